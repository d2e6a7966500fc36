package model

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// RowLoss is the loss of a row of scores m and the class own.
func RowLoss(m []float64, own int) float64 {
	e, top := make([]float64, len(m)), slices.Max(m)
	for k, v := range m {
		e[k] = kernels.Exp(v - top)
	}
	return rowLoss(m, e, own)
}

// AlongFace is alongFace.
func AlongFace(at, w []float64) { alongFace(at, w) }
