package distributed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-45b9a24c/pare/distributed/internal/scratch"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// put writes matrix and target as a mapped file, and stores it under its SHA-256 unless it is there
// already.
func (s *streams) put(ctx context.Context, x sparse.Matrix, y []float64, most int64) (hash string, size int64, err error) {
	in := s.shared // the same directory, so that the file can be renamed
	if s.remote() {
		in = ""
	}
	dir, remove, err := scratch.Directory(in, "pare-data-")
	if err != nil {
		return "", 0, err
	}
	defer remove()
	path := filepath.Join(dir, "data")
	if err := sparse.WriteMapped(path, x, y, nil); err != nil {
		return "", 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", 0, &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot be read", Err: err}
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if size, err = io.Copy(sum, file); err != nil {
		return "", 0, &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot be read", Err: err}
	}
	if size > most {
		return "", 0, outcome.At(outcome.Limit, "max-bytes", "the data set has %d bytes, but the limit is %d", size, most)
	}
	hash = hex.EncodeToString(sum.Sum(nil))
	switch {
	case s.remote():
		there, err := s.download(ctx, hash)
		if err == nil {
			_ = there.Close()
		}
		return hash, size, err
	case s.shared != "":
		if to := filepath.Join(s.shared, hash); !holds(to, hash, size) {
			if err := os.Rename(path, to); err != nil {
				return "", 0, &outcome.Error{Kind: outcome.IO, File: to, Message: "the data set cannot be written there", Err: err}
			}
		}
		return hash, size, nil
	}
	err = insist(ctx, func() (bool, error) {
		once, end := context.WithTimeout(ctx, transfer(size))
		defer end()
		info, err := s.data.GetInfo(once, hash)
		if err == nil && info.Size == uint64(size) {
			return false, nil
		}
		if err == nil || errors.Is(err, jetstream.ErrObjectNotFound) {
			if _, err = file.Seek(0, io.SeekStart); err == nil {
				_, err = s.data.Put(once, jetstream.ObjectMeta{Name: hash}, file)
			}
		}
		var refused *jetstream.APIError
		return !errors.As(err, &refused) || refused.Code >= http.StatusInternalServerError, err
	})
	return hash, size, unreachable(err)
}

// transfer returns how long the transfer of this many bytes to or from a server may take.
func transfer(size int64) time.Duration {
	return 2*reply + time.Duration(size>>20)*time.Second
}

// remote reports whether data sets are at a web address.
func (s *streams) remote() bool {
	return strings.HasPrefix(s.shared, "https://") || strings.HasPrefix(s.shared, "http://")
}

// download opens the data set with this hash at the web address.
func (s *streams) download(ctx context.Context, hash string) (io.ReadCloser, error) {
	from, err := url.JoinPath(s.shared, hash)
	if err != nil {
		return nil, outcome.At(outcome.BadParameter, "data", "%q is not an address", s.shared)
	}
	failed := &outcome.Error{Kind: outcome.IO, File: from, Message: "the data set cannot be fetched from there; a selection with a directory as --data writes the file to serve"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		failed.Err = err
		return nil, failed
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		failed.Err = err
		return nil, failed
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		failed.Err = errors.New(answer.Status)
		return nil, failed
	}
	return answer.Body, nil
}

// get maps a data set from the cache on disk. If it is not there, get first downloads it from the store into the
// directory parts, and then moves it to the cache. Data from elsewhere are accepted only with the right hash and
// size, and every entry is checked.
func (s *streams) get(ctx context.Context, cache, parts, hash string, size, most int64) (*sparse.Mapped, error) {
	if size > most {
		return nil, outcome.At(outcome.Limit, "max-bytes", "the data set has %d bytes, but this worker takes at most %d", size, most)
	}
	path := filepath.Join(cache, hash)
	if s.shared != "" && !s.remote() {
		path = filepath.Join(s.shared, hash)
		if !holds(path, hash, size) {
			return nil, &outcome.Error{Kind: outcome.IO, File: path, Message: "the data set is missing here, or its SHA-256 differs; workers and coordinators need the same --data"}
		}
	} else if !holds(path, hash, size) {
		// A server of a cluster may not have yet what another server has stored.
		err := insist(ctx, func() (bool, error) {
			err := s.fetch(ctx, parts, path, hash, size)
			return outcome.KindOf(err) == outcome.IO && !onDisk(err) && !s.remote(), err
		})
		if err != nil {
			return nil, err
		}
	}
	return sparse.Map(path, sparse.MapOptions{})
}

// onDisk reports whether err is an error of this machine's disk, which may be full.
func onDisk(err error) bool {
	_, file := errors.AsType[*fs.PathError](err)
	_, renamed := errors.AsType[*os.LinkError](err)
	return file || renamed
}

// holds reports whether a file has this hash and size.
func holds(path, hash string, size int64) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	read, err := io.Copy(sum, io.LimitReader(file, size+1))
	return err == nil && read == size && hex.EncodeToString(sum.Sum(nil)) == hash
}

// source opens a data set in the store, or at the web address.
func (s *streams) source(ctx context.Context, hash string) (io.ReadCloser, error) {
	if s.remote() {
		return s.download(ctx, hash)
	}
	return s.data.Get(ctx, hash)
}

// fetch copies a data set from its source to a file: completely, or not at all.
func (s *streams) fetch(ctx context.Context, parts, path, hash string, size int64) error {
	failed := func(err error) error {
		return &outcome.Error{Kind: outcome.IO, File: path, Message: "the data set cannot be fetched", Err: err}
	}
	ctx, end := context.WithTimeout(ctx, transfer(size))
	defer end()
	object, err := s.source(ctx, hash)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = object.Close() }()
	file, err := os.CreateTemp(parts, "data-")
	if err != nil {
		return failed(err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	sum := sha256.New()
	read, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(object, size+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return failed(err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); read != size || got != hash {
		return outcome.Errorf(outcome.Parse, "the data set %s is damaged: %d bytes of %d, SHA-256 %s", hash, read, size, got)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return failed(err)
	}
	return nil
}
