package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library makes room for what a file says of itself before it looks whether that can be.
// A kilobyte could take gigabytes so, and is looked at here first.

// footer refuses a file whose description would be longer than it.
func footer(file io.ReaderAt, size int64) error {
	const ends = 8 // with the length of the description, and PAR1
	var end [ends]byte
	if size < ends {
		return io.ErrUnexpectedEOF
	}
	if _, err := file.ReadAt(end[:], size-ends); err != nil {
		return err
	}
	if length := int64(binary.LittleEndian.Uint32(end[:])); length > size-ends {
		return fmt.Errorf("a description of %d bytes at the end of a file of %d", length, size)
	}
	return nil
}

const (
	mostPacked = 1 << 12 // times its size that a page may unpack to, beside leastPage
	leastPage  = 1 << 20
	mostValues = 1 << 24 // of a page: writers begin another after some thousands of rows
)

// pages refuses a file with a page that lies outside of it, or would unpack to more than its size
// lets expect.
func pages(file io.ReaderAt, size int64, groups []format.RowGroup) error {
	for g := range groups {
		for c := range groups[g].Columns {
			at := &groups[g].Columns[c].MetaData
			begin := at.DataPageOffset
			if dictionary := at.DictionaryPageOffset; dictionary > 0 && dictionary < begin {
				begin = dictionary
			}
			if begin < 0 || at.TotalCompressedSize < 0 || begin > size || at.TotalCompressedSize > size-begin {
				return fmt.Errorf("a column at %d of %d bytes, in a file of %d", begin, at.TotalCompressedSize, size)
			}
			if err := chunk(io.NewSectionReader(file, begin, at.TotalCompressedSize), at.Codec); err != nil {
				return err
			}
		}
	}
	return nil
}

// chunk looks at the headers of the pages of a column in a group of rows.
func chunk(r *io.SectionReader, codec format.CompressionCodec) error {
	var protocol thrift.CompactProtocol
	for at := int64(0); at < r.Size(); {
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			return err
		}
		read := &counted{r: bufio.NewReaderSize(r, 512)}
		var header format.PageHeader
		if err := thrift.NewDecoder(protocol.NewReader(read)).Decode(&header); err != nil {
			return err
		}
		packed, size := int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
		begin := at + read.n
		at = begin + packed
		values := max(header.DataPageHeader.V.NumValues, header.DataPageHeaderV2.V.NumValues, header.DictionaryPageHeader.V.NumValues)
		if packed < 0 || size < 0 || at > r.Size() || values > mostValues || codec == format.Uncompressed && size > packed || size > leastPage+mostPacked*packed {
			return fmt.Errorf("%w: a page of %d bytes, %d unpacked, with %d values", parquet.ErrCorrupted, packed, size, values)
		}
		if codec == format.Snappy && packed > 0 {
			if err := block(r, begin, size, &header); err != nil {
				return err
			}
		}
	}
	return nil
}

// block looks at how long a block of Snappy's says that it is.
func block(r io.ReaderAt, at, size int64, header *format.PageHeader) error {
	if v2 := header.DataPageHeaderV2; v2.Valid { // levels come before, as they are
		at += int64(v2.V.RepetitionLevelsByteLength) + int64(v2.V.DefinitionLevelsByteLength)
	}
	var begin [binary.MaxVarintLen64]byte
	n, err := r.ReadAt(begin[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if length, _ := binary.Uvarint(begin[:n]); length > uint64(size) {
		return fmt.Errorf("%w: a block of %d bytes in a page of %d", parquet.ErrCorrupted, length, size)
	}
	return nil
}

// counted counts what is read.
type counted struct {
	r *bufio.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
