package imports_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// endless is a file that is generated while it is read, and that samples the heap.
type endless struct {
	left, until int
	line        []byte
	rest        []byte
	base, most  uint64
}

const lookEvery = 4 << 20

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if e.until -= len(p); e.until < 0 {
		e.until = lookEvery
		now := live()
		if e.base == 0 {
			e.base = now
		}
		e.most = max(e.most, now)
	}
	n := 0
	for n < len(p) && e.left > 0 {
		if len(e.rest) == 0 {
			e.rest = e.line
		}
		k := copy(p[n:min(len(p), n+e.left)], e.rest)
		e.rest = e.rest[k:]
		n, e.left = n+k, e.left-k
	}
	return n, nil
}

// live returns the size of the reachable heap.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestAFileOfAnySizeNeedsTheSameMemory stages files of 8 and 40 MiB. The peak of both is one or two blocks.
func TestAFileOfAnySizeNeedsTheSameMemory(t *testing.T) {
	db := testkit.DB(t)
	line := []byte("person@example.test,First,Last," + string(bytes.Repeat([]byte("x"), 200)) + "\n")
	for _, size := range []int{8 << 20, 40 << 20} {
		e := &endless{left: size / len(line) * len(line), line: line}
		file := io.MultiReader(bytes.NewReader([]byte("email,first_name,last_name,note\n")), e)
		s, err := imports.Stage(t.Context(), db.App, id.New(), file, sheet.Options{})
		if err != nil || s == nil {
			t.Fatal(err)
		}
		grown := int64(e.most - e.base)
		t.Logf("%d MiB: the heap grew by %d KiB at most", size>>20, grown>>10)
		if grown > 8<<20 {
			t.Errorf("%d MiB: the heap grew by %d KiB", size>>20, grown>>10)
		}
	}
}
