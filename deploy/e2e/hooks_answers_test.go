package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Twenty receivers send endless responses at the same time. The process may grow by a megabyte for each.
func TestAnswersOfAGigabyteCostTheWorkerLessThanAMegabyteEach(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to know what a process takes")
	}
	const gigabyte, endpoints, each = 1 << 30, 2, 10
	p, org := newPost(t), id.New()
	var sent atomic.Int64 // the most that one response has sent
	block := make([]byte, 64<<10)
	in, flood := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		n := 0
		for n < gigabyte && r.Context().Err() == nil {
			some, err := w.Write(block)
			if n += some; err != nil {
				break
			}
		}
		for most := sent.Load(); int64(n) > most && !sent.CompareAndSwap(most, int64(n)); most = sent.Load() {
		}
	})
	_, small := receiver(t, ok)
	for range endpoints {
		p.subscribe(org, small, nil, "contact.archived")
		p.subscribe(org, flood, nil, "contact.created")
	}
	p.worker()
	delivered := func(n int) {
		t.Helper()
		p.within(2*patience, fmt.Sprintf("%d deliveries are recorded", n), func() bool {
			return p.count("webhook_delivery WHERE last_status = 200 AND attempt_id IS NOT NULL") >= n
		})
	}
	const warm = 300
	p.announce(org, warm, true)
	delivered(warm * endpoints)
	// resets the peak
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.pid), []byte("5"), 0); err != nil {
		t.Skipf("the peak of a process cannot be reset here: %v", err)
	}
	before := memory(t, p.pid, "VmRSS")
	p.announce(org, each, false)
	delivered(warm*endpoints + each*endpoints)
	grown := memory(t, p.pid, "VmHWM") - before
	t.Logf(
		"%d answers, %d calls at once: %d KiB at most left the receiver for one, and the worker grew by %d KiB "+
			"from %d", endpoints*each, in.most, sent.Load()>>10, grown, before)
	if grown > endpoints*each<<10 {
		t.Errorf("grew by %d KiB for %d answers", grown, endpoints*each)
	}
	if n := p.count("webhook_delivery WHERE answer_cut AND octet_length(answer) = 16384"); n != endpoints*each {
		t.Errorf("%d answers kept to their first 16 KiB", n)
	}
	if sent.Load() > gigabyte/8 {
		t.Errorf("%d bytes were taken of one answer", sent.Load())
	}
}

// memory returns a field of /proc/pid/status in KiB.
func memory(t *testing.T, pid int, field string) (kib int) {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(raw), field+":")
	if _, err := fmt.Sscanf(after, "%d kB", &kib); !found || err != nil {
		t.Fatalf("no %s: %v", field, err)
	}
	return kib
}
