package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// A file is read by its handler as it arrives, however long that takes, as long as it arrives at all.
const (
	uploadTime  = time.Hour        // from the first byte to the last
	uploadPause = 30 * time.Second // in which nothing comes
)

// Uploads at a time: each is a connection to the database for moments, and some megabytes.
const (
	uploadsHere   = 16 // of one process
	uploadsPerOrg = 2
)

// upload is a body that its handler reads. Its errors are faults.
type upload struct {
	boundary string // of multipart/form-data
	from     io.Reader
	conn     net.Conn
	left     int64 // bytes that may still come
	limit    int64
	request  *request
	end      context.CancelFunc // of the handler's time
}

// uploaded lets the handler of an operation that streams have the body.
func uploaded(c *fiber.Ctx, r *request) error {
	if enc := c.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return fault.New(fault.UnsupportedMedia, "Send the body without Content-Encoding.")
	}
	kind, params, err := mime.ParseMediaType(c.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return fault.New(fault.UnsupportedMedia, "Send Content-Type: multipart/form-data with a boundary.")
	}
	if int64(c.Request().Header.ContentLength()) > r.op.MaxBody {
		return tooLarge(r.op.MaxBody)
	}
	u := &upload{boundary: params["boundary"], from: strings.NewReader(""), conn: c.Context().Conn(), left: r.op.MaxBody, limit: r.op.MaxBody, request: r}
	if has(c) {
		u.from = c.Context().RequestBodyStream()
	}
	var ctx context.Context
	ctx, u.end = context.WithTimeout(context.WithoutCancel(c.UserContext()), uploadTime)
	c.SetUserContext(ctx)
	r.upload = u
	return nil
}

// Read gives the sender time for the next bytes.
func (u *upload) Read(p []byte) (int, error) {
	_ = u.conn.SetReadDeadline(time.Now().Add(uploadPause)) // it fails where the read will
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

// uploads counts those that are open.
type uploads struct {
	mu    sync.Mutex
	all   int
	byOrg map[id.ID]int
}

// begin is a fault where there is no room for one more; else the answered function gives the room back.
func (u *uploads) begin(org id.ID) (func(), error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byOrg == nil {
		u.byOrg = map[id.ID]int{}
	}
	switch {
	case u.byOrg[org] >= uploadsPerOrg:
		return nil, &fault.Fault{Code: fault.RateLimited, Detail: "Files of this org are being taken already. Wait for them.", RetryAfter: 5 * time.Second}
	case u.all >= uploadsHere:
		return nil, &fault.Fault{Code: fault.Unavailable, Detail: "Too many files are being taken.", RetryAfter: 5 * time.Second}
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
