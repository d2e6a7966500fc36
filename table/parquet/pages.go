package parquet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// The library allocates the sizes that a file claims before it checks them. A file of a kilobyte could so claim
// gigabytes. The functions here check these sizes first.

// footer refuses a file whose footer would be longer than the file.
func footer(file io.ReaderAt, size int64) error {
	const ends = 8 // the length of the footer, and PAR1
	var end [ends]byte
	if size < ends {
		return io.ErrUnexpectedEOF
	}
	if _, err := file.ReadAt(end[:], size-ends); err != nil {
		return err
	}
	if length := int64(binary.LittleEndian.Uint32(end[:])); length > size-ends {
		return fmt.Errorf("the footer has %d bytes in a file of %d", length, size)
	}
	return nil
}

const (
	mostPacked = 1 << 12 // ratio of sizes that a page may unpack to, in addition to leastPage
	leastPage  = 1 << 20
	mostWindow = 1 << 27 // Zstandard frames may state the encoder's largest window even where they are short
	mostValues = 1 << 24 // of a page: writers begin a new page after some thousands of rows
)

// pages refuses a file with a page that lies outside the file, or would unpack to more than is plausible for
// its size.
func pages(file io.ReaderAt, size int64, groups []format.RowGroup) error {
	for g := range groups {
		for c := range groups[g].Columns {
			at := &groups[g].Columns[c].MetaData
			begin := at.DataPageOffset
			if dictionary := at.DictionaryPageOffset; dictionary > 0 && dictionary < begin {
				begin = dictionary
			}
			if begin < 0 || at.TotalCompressedSize < 0 || begin > size || at.TotalCompressedSize > size-begin {
				return fmt.Errorf("a column begins at byte %d with %d bytes, in a file of %d", begin, at.TotalCompressedSize, size)
			}
			if err := chunk(io.NewSectionReader(file, begin, at.TotalCompressedSize), at.Codec); err != nil {
				return err
			}
		}
	}
	return nil
}

// chunk checks the page headers of a column chunk.
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
		if err := unpacks(r, begin, packed, size, &header, codec); err != nil {
			return err
		}
	}
	return nil
}

// unpacks refuses a page that would unpack to more than its header says. A Snappy block states its size itself;
// gzip compresses by a factor of a thousand at most, and is not checked.
func unpacks(r io.ReaderAt, at, packed, size int64, header *format.PageHeader, codec format.CompressionCodec) error {
	if v2 := header.DataPageHeaderV2; v2.Valid { // levels come first, uncompressed
		levels := int64(v2.V.RepetitionLevelsByteLength) + int64(v2.V.DefinitionLevelsByteLength)
		if levels < 0 || levels > packed {
			return fmt.Errorf("%w: levels of %d bytes in a page of %d", parquet.ErrCorrupted, levels, packed)
		}
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			return nil
		}
		at, packed = at+levels, packed-levels
	}
	if packed == 0 {
		return nil
	}
	page := io.NewSectionReader(r, at, packed)
	var length int64
	var err error
	switch codec { //nolint:exhaustive // gzip packs a thousandfold at most; others are not read
	case format.Snappy:
		var n uint64
		n, err = binary.ReadUvarint(bufio.NewReaderSize(page, binary.MaxVarintLen64))
		length = int64(min(n, math.MaxInt64))
	case format.Lz4Raw:
		length, err = lz4Length(page, size)
	case format.Zstd:
		length, err = zstdLength(page, size)
	case format.Brotli:
		length, err = io.Copy(io.Discard, io.LimitReader(brotli.NewReader(page), size+1))
	}
	if err == nil && length > size {
		err = fmt.Errorf("more than %d bytes in a page of %d", size, packed)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", parquet.ErrCorrupted, err)
	}
	return nil
}

// zstdLength returns the unpacked size of Zstandard frames, or an error where it exceeds both most and
// mostWindow.
func zstdLength(page io.Reader, most int64) (int64, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(most, mostWindow))))
	if err != nil {
		return 0, err
	}
	defer d.Close()
	packed, err := io.ReadAll(page)
	if err != nil {
		return 0, err
	}
	unpacked, err := d.DecodeAll(packed, nil)
	return int64(len(unpacked)), err
}

// lz4Length returns the unpacked size of an LZ4 block, or an error where it exceeds most. The library itself
// would allocate ever more memory for a block that is damaged.
func lz4Length(page io.Reader, most int64) (int64, error) {
	packed, err := io.ReadAll(page)
	if err != nil {
		return 0, err
	}
	n, err := lz4.UncompressBlock(packed, make([]byte, most))
	return int64(n), err
}

// counted counts the bytes read.
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
