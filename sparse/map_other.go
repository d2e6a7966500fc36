//go:build !unix && !windows

package sparse

import (
	"errors"
	"os"
)

// mapFile is for systems that have no files in memory.
func mapFile(*os.File, int64) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
