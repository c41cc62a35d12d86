package httpx

import (
	"context"
	"errors"
	"io"
	"mime"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// A handler reads a file as it arrives. The timeouts bound the whole upload and each pause in it.
const (
	uploadTime  = time.Hour        // from first to last byte
	uploadPause = 30 * time.Second // without any byte
)

// Limits of concurrent uploads. Each takes some megabytes, and a database connection for short periods.
const (
	uploadsHere   = 16 // in this process
	uploadsPerOrg = 2
)

// prepareUpload prepares the body for the handler of a streaming operation.
func prepareUpload(c *fiber.Ctx, r *Request) error {
	if enc := c.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return fault.New(fault.UnsupportedMedia, "Send the body without Content-Encoding.")
	}

	kind, params, err := mime.ParseMediaType(c.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return fault.New(fault.UnsupportedMedia, "Send Content-Type: multipart/form-data with a boundary.")
	}
	if int64(c.Request().Header.ContentLength()) > r.Op.MaxBody {
		return tooLarge(r.Op.MaxBody)
	}

	u := &upload{
		Boundary: params["boundary"], from: strings.NewReader(""), conn: c.Context().Conn(),
		left: r.Op.MaxBody, limit: r.Op.MaxBody, request: r,
	}
	if hasBody(c) {
		u.from = c.Context().RequestBodyStream()
	}

	var ctx context.Context
	ctx, u.end = context.WithTimeout(context.WithoutCancel(c.UserContext()), uploadTime)
	c.SetUserContext(ctx)
	r.Upload = u

	return nil
}

// Read extends the read deadline for the next bytes.
func (u *upload) Read(p []byte) (int, error) {
	_ = u.conn.SetReadDeadline(time.Now().Add(uploadPause)) // if it fails, the read fails too
	n, err := u.from.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, tooLarge(u.limit)
	}

	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		u.request.bodyRead = true
		return n, io.EOF
	}

	var refusal *fault.Fault
	if l, ok := u.conn.(*conn); ok {
		refusal = l.Refusal()
	}

	return n, bodyFault(err, refusal)
}

// Uploads counts the open uploads.
type Uploads struct {
	mu    sync.Mutex
	all   int
	byOrg map[id.ID]int
}

// Begin reserves a slot for an upload and returns the function that releases it. It returns a fault if all slots are
// taken.
func (u *Uploads) Begin(org id.ID) (func(), error) {
	u.mu.Lock()
	defer u.mu.Unlock()

	if u.byOrg == nil {
		u.byOrg = map[id.ID]int{}
	}

	switch {
	case u.byOrg[org] >= uploadsPerOrg:
		return nil,
			&fault.Fault{
				Code:       fault.RateLimited,
				Detail:     "Too many uploads of this org are in progress. Wait for one to finish.",
				RetryAfter: 5 * time.Second,
			}
	case u.all >= uploadsHere:
		return nil,
			&fault.Fault{
				Code: fault.Unavailable, Detail: "Too many uploads are in progress.",
				RetryAfter: 5 * time.Second,
			}
	}

	u.all++
	u.byOrg[org]++

	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.all--
		if u.byOrg[org]--; u.byOrg[org] == 0 {
			delete(u.byOrg, org)
		}
	}, nil
}
