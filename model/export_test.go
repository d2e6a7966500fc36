package model

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// RowLoss returns the loss of a row with scores m whose class is own.
func RowLoss(m []float64, own int) float64 {
	e, top := make([]float64, len(m)), slices.Max(m)
	for k, v := range m {
		e[k] = kernels.Exp(v - top)
	}
	return rowLoss(m, e, own)
}

// AlongFace exports projectOntoFace.
func AlongFace(at, w []float64) { projectOntoFace(at, w) }
