package parquet

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestPagesThatUnpackToMoreAreRefused checks that a page which decompresses to more than it declares, by any codec,
// and levels longer than declared are refused, and that an uncompressed page is not.
func TestPagesThatUnpackToMoreAreRefused(t *testing.T) {
	data := make([]byte, 1<<20)
	for codec, c := range map[format.CompressionCodec]compress.Codec{format.Snappy: &pq.Snappy, format.Lz4Raw: &pq.Lz4Raw, format.Zstd: &pq.Zstd, format.Brotli: &pq.Brotli} {
		page, err := c.Encode(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		try := func(size int, header format.PageHeader) error {
			return unpacks(bytes.NewReader(page), 0, int64(len(page)), int64(size), &header, codec)
		}
		if err := try(len(data), format.PageHeader{}); err != nil {
			t.Errorf("%v: %v", codec, err)
		}
		if err := try(len(data)-1, format.PageHeader{}); !errors.Is(err, pq.ErrCorrupted) {
			t.Errorf("%v, a page of more: %v", codec, err)
		}
		v2 := format.DataPageHeaderV2{IsCompressed: thrift.New(false)}
		broken := slices.Clone(page)
		for i := range broken[:min(len(broken), 64)] {
			broken[i] = 0xff
		}
		if err := unpacks(bytes.NewReader(broken), 0, int64(len(broken)), int64(len(data)), new(format.PageHeader), codec); !errors.Is(err, pq.ErrCorrupted) {
			t.Errorf("%v, no block: %v", codec, err)
		}
		if err := try(1, format.PageHeader{DataPageHeaderV2: thrift.New(v2)}); err != nil {
			t.Errorf("%v, not packed: %v", codec, err)
		}
		v2 = format.DataPageHeaderV2{DefinitionLevelsByteLength: int32(len(page)) + 1}
		if err := try(len(data), format.PageHeader{DataPageHeaderV2: thrift.New(v2)}); !errors.Is(err, pq.ErrCorrupted) {
			t.Errorf("%v, long levels: %v", codec, err)
		}
	}
}
