//go:build unix

package sparse

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the whole of a file for reading.
func mapFile(file *os.File, size int64) (data []byte, unmap func() error, err error) {
	data, err = unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
