package httpx

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// prefetched is how many bytes of a body the server reads from the connection before the middleware runs.
const prefetched = 8 << 10

// checkedBody reads and checks the request body, if the operation has one. JSON has passed the strict scanner.
func checkedBody(c *fiber.Ctx, r *Request) ([]byte, error) {
	o := r.Op
	if o.Form != nil {
		return nil, prepareUpload(c, r)
	}
	if o.TakesJSON && hasBody(c) {
		if err := contentType(c, o.merge); err != nil {
			return nil, err
		}
	}

	b, err := readBody(c, r, o.MaxBody)
	if o.TakesJSON {
		r.body = b
	}
	switch {
	case err != nil:
		return nil, err
	case o.isBodyless() && len(b) > 0:
		return b, nothingIn(c, b)
	case !o.TakesJSON:
		return b, nil
	case len(b) == 0 && o.needsBody:
		return nil, fault.New(fault.MalformedJSON, "This needs a JSON body.")
	case len(b) == 0:
		return nil, nil
	}

	return b, ScanJSON(b)
}

// nothingIn checks the body of an operation without one: it may be absent or an empty object, which some clients always
// send. Other members, such as dry_run, are an error, so that the client does not believe that they took effect.
func nothingIn(c *fiber.Ctx, b []byte) error {
	if err := contentType(c, false); err != nil {
		return err
	}
	if err := ScanJSON(b); err != nil {
		return err
	}

	f := fault.New(fault.ValidationFailed, "The request has invalid fields.")
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil {
		f.Fields = []fault.FieldError{{Pointer: "#", Code: "invalid_type", Detail: "This takes no body."}}
		return f
	}

	for _, name := range slices.Sorted(maps.Keys(members)) {
		f.Fields = append(f.Fields,
			fault.FieldError{
				Pointer: "#/" + escapePointer(name), Code: "unknown_field",
				Detail: "There is no such field: this takes no body.",
			})
	}

	if f.Fields != nil {
		return f
	}

	return nil
}

// contentType accepts only uncompressed JSON in UTF-8.
func contentType(c *fiber.Ctx, merge bool) error {
	if enc := c.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return fault.New(fault.UnsupportedMedia, "Send the body without Content-Encoding.")
	}

	given := c.Get("Content-Type")
	if given == "application/json" {
		return nil
	}

	kind, params, err := mime.ParseMediaType(given)
	charset, named := params["charset"]
	switch {
	case err != nil, kind != "application/json" && (kind != "application/merge-patch+json" || !merge):
		if merge {
			return fault.New(fault.UnsupportedMedia,
				"Send Content-Type: application/merge-patch+json or application/json.")
		}
		return fault.New(fault.UnsupportedMedia, "Send Content-Type: application/json.")
	case named && !strings.EqualFold(charset, "utf-8"):
		return fault.New(fault.UnsupportedMedia, "Send JSON in UTF-8.")
	}

	return nil
}

// readBody reads at most limit bytes. It refuses a longer body as soon as the length is known.
func readBody(c *fiber.Ctx, r *Request, limit int64) ([]byte, error) {
	if !hasBody(c) {
		return nil, nil
	}

	n := int64(c.Request().Header.ContentLength())
	if n > limit {
		return nil, tooLarge(limit)
	}

	var b []byte
	stream, err := c.Context().RequestBodyStream(), error(nil)
	if r.Op.Shrink != nil {
		counted := &io.LimitedReader{R: &pacedReader{from: stream, conn: c.Context().Conn()}, N: limit + 1}
		if b, err = r.Op.Shrink(counted); counted.N <= 0 {
			return nil, tooLarge(limit)
		}
	} else if n > 0 {
		b = make([]byte, n)
		_, err = io.ReadFull(stream, b)
	} else if b, err = io.ReadAll(io.LimitReader(stream, limit+1)); int64(len(b)) > limit {
		return nil, tooLarge(limit)
	}
	if err != nil {
		return nil, bodyFault(err, refusalOf(c))
	}

	r.bodyRead = true

	return b, nil
}

// leastRate is how many bytes a second a body has at least that is read as it arrives.
const leastRate = 128 << 10

// pacedReader extends the read deadline of a connection by the time that its bytes may have taken.
type pacedReader struct {
	from io.Reader
	conn net.Conn
	read int
}

// Read implements io.Reader.
func (p *pacedReader) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	const step = 1 << 20
	if before := p.read / step; err == nil && (p.read+n)/step > before { // if it fails, a read fails too
		_ = p.conn.SetReadDeadline(time.Now().Add(readTimeout + step/leastRate*time.Second))
	}
	p.read += n
	return n, err
}

// unreadBody reports whether part of the body has not been read from the connection.
func unreadBody(c *fiber.Ctx, r *Request) bool {
	n := c.Request().Header.ContentLength()
	return (n > prefetched || n == -1) && !r.bodyRead
}

// humaContext is an alias, so that admitted can embed huma.Context and have a method named Context.
type humaContext = huma.Context

// admitted is a request with its body in memory. huma reads the body from there and sets no deadlines.
type admitted struct {
	humaContext
	body []byte
	ctx  context.Context //nolint:containedctx // it is huma's way to hand a context to the handler
}

// Unwrap supports humafiber.Unwrap.
func (a *admitted) Unwrap() huma.Context { return a.humaContext }

// Context returns the context for the handler.
func (a *admitted) Context() context.Context { return a.ctx }

// Header returns the body's format to huma. A body that passed contentType is JSON, whatever the exact media type. A
// handler that takes another format sees the original header.
func (a *admitted) Header(name string) string {
	if name == "Content-Type" && RequestOf(a.ctx).Op.Takes == nil && RequestOf(a.ctx).Op.Form == nil {
		return "application/json"
	}
	return a.humaContext.Header(name)
}

// Query returns a parameter to huma, which takes other times than RFC 3339 has: see wire.ParseTime.
func (a *admitted) Query(name string) string {
	given := a.humaContext.Query(name)
	switch {
	case given == "":
		return given
	case strings.HasSuffix(name, "_after"), strings.HasSuffix(name, "_before"):
	case (name == "from" || name == "to") && len(given) > len(time.DateOnly): // others have days of that name
	default:
		return given
	}
	return canonicalTime(given)
}

// BodyReader returns a reader of the body in memory.
func (a *admitted) BodyReader() io.Reader { return bytes.NewReader(a.body) }

// SetReadDeadline does nothing, since the body is in memory.
func (a *admitted) SetReadDeadline(time.Time) error { return nil }
