package sparse

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps the whole of a file for reading.
func mapFile(file *os.File, size int64) (data []byte, unmap func() error, err error) {
	handle, err := windows.CreateFileMapping(windows.Handle(file.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	at, err := windows.MapViewOfFile(handle, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, errors.Join(err, windows.CloseHandle(handle))
	}
	data = unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), size)
	return data, func() error { return errors.Join(windows.UnmapViewOfFile(at), windows.CloseHandle(handle)) }, nil
}
