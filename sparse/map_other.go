//go:build !unix && !windows

package sparse

import (
	"errors"
	"os"
)

// mapFile fails on systems that do not map files into memory.
func mapFile(*os.File, int64) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
