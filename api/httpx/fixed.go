package httpx

import (
	"bytes"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
)

// Content codings, as named in Content-Encoding.
const (
	identity   = ""
	gzipCoding = "gzip"
	brCoding   = "br"
)

// Compression levels. Those for single responses cost about as much as encoding the JSON; those for cached bodies are
// higher.
const (
	gzipLevel     = 4
	brLevel       = 3
	gzipKeptLevel = gzip.BestCompression
	brKeptLevel   = 9
)

// packer is a gzip.Writer or a brotli.Writer.
type packer interface {
	io.WriteCloser
	Reset(io.Writer)
}

func newGzip(level int) packer {
	w, err := gzip.NewWriterLevel(nil, level)
	if err != nil {
		panic(err) // the levels are constants
	}
	return w
}

func newBr(level int) packer { return brotli.NewWriterLevel(nil, level) }

// packers are pools of writers for single responses.
var packers = map[string]*sync.Pool{
	gzipCoding: {New: func() any { return newGzip(gzipLevel) }},
	brCoding:   {New: func() any { return newBr(brLevel) }},
}

// compressOnce compresses one response body.
func compressOnce(coding string, body []byte) []byte {
	w, _ := packers[coding].Get().(packer)
	defer packers[coding].Put(w)
	return packBy(w, body)
}

func packBy(w packer, body []byte) []byte {
	out := bytes.NewBuffer(make([]byte, 0, len(body)/4+128))
	w.Reset(out)
	_, _ = w.Write(body) // a bytes.Buffer never fails
	_ = w.Close()
	return out.Bytes()
}

// Fixed is a constant body with its compressed forms. Each form is built on first use.
type Fixed struct {
	Plain    func() []byte
	Gzip, br func() []byte
}

// NewFixed returns a fixed with the body plain. plain is called at most once.
func NewFixed(plain func() []byte) *Fixed {
	k := &Fixed{Plain: sync.OnceValue(plain)}
	k.Gzip = sync.OnceValue(func() []byte { return packBy(newGzip(gzipKeptLevel), k.Plain()) })
	k.br = sync.OnceValue(func() []byte { return packBy(newBr(brKeptLevel), k.Plain()) })
	return k
}

// Precompressed returns a Fixed whose compressed forms are given, as those of an embedded file are.
func Precompressed(plain, gzip, br []byte) *Fixed {
	return &Fixed{
		Plain: func() []byte { return plain }, Gzip: func() []byte { return gzip }, br: func() []byte { return br },
	}
}

// cachedCoding returns body in a coding. It returns nil if body is not the cached body, for example a problem.
func (k *Fixed) cachedCoding(coding string, body []byte) []byte {
	switch {
	case k == nil || !bytes.Equal(body, k.Plain()):
		return nil
	case coding == brCoding:
		return k.br()
	default:
		return k.Gzip()
	}
}
