package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// prefetched is how much of a body the server has taken from the connection before any of our code runs.
const prefetched = 8 << 10

// body reads and checks the body as far as the operation takes one. JSON has passed the strict scanner.
func body(c *fiber.Ctx, r *request) ([]byte, error) {
	o := r.op
	if o.Form != nil {
		return nil, uploaded(c, r)
	}
	if o.json && has(c) {
		if err := contentType(c, o.merge); err != nil {
			return nil, err
		}
	}
	b, err := readBody(c, r, o.MaxBody)
	switch {
	case err != nil:
		return nil, err
	case o.mute() && len(b) > 0:
		return b, nothingIn(c, b)
	case !o.json:
		return b, nil
	case len(b) == 0 && o.needs:
		return nil, fault.New(fault.MalformedJSON, "This needs a JSON body.")
	case len(b) == 0:
		return nil, nil
	}
	return b, scanJSON(b)
}

// mute tells whether the operation changes something and takes no body.
func (o *op) mute() bool {
	return !o.json && o.Takes == nil && o.Form == nil && !o.Signed && (o.Method == http.MethodPost || o.Method == http.MethodPut)
}

// nothingIn holds the body of an operation that takes none to what it can be: absent, or an empty object, which some
// clients always send. Whoever says more, such as dry_run, would else believe that it was heard.
func nothingIn(c *fiber.Ctx, b []byte) error {
	if err := contentType(c, false); err != nil {
		return err
	}
	if err := scanJSON(b); err != nil {
		return err
	}
	f := fault.New(fault.ValidationFailed, "The request has invalid fields.")
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil {
		f.Fields = []fault.Field{{Pointer: "#", Code: "invalid_type", Detail: "This takes no body."}}
		return f
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		f.Fields = append(f.Fields, fault.Field{Pointer: "#/" + escape(name), Code: "unknown_field", Detail: "There is no such field: this takes no body."})
	}
	if f.Fields != nil {
		return f
	}
	return nil
}

// has tells whether a body follows the headers.
func has(c *fiber.Ctx) bool {
	n := c.Request().Header.ContentLength()
	return n > 0 || n == -1
}

// contentType lets JSON pass, in UTF-8 and not compressed.
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
			return fault.New(fault.UnsupportedMedia, "Send Content-Type: application/merge-patch+json or application/json.")
		}
		return fault.New(fault.UnsupportedMedia, "Send Content-Type: application/json.")
	case named && !strings.EqualFold(charset, "utf-8"):
		return fault.New(fault.UnsupportedMedia, "JSON is sent in UTF-8.")
	}
	return nil
}

// readBody takes at most limit bytes; a longer body is refused as soon as that shows.
func readBody(c *fiber.Ctx, r *request, limit int64) ([]byte, error) {
	if !has(c) {
		return nil, nil
	}
	n := int64(c.Request().Header.ContentLength())
	if n > limit {
		return nil, tooLarge(limit)
	}
	var b []byte
	stream, err := c.Context().RequestBodyStream(), error(nil)
	if n > 0 {
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

func tooLarge(limit int64) *fault.Fault {
	if limit < 1<<20 {
		return fault.Newf(fault.BodyTooLarge, "The body may have %d KiB.", limit>>10)
	}
	return fault.Newf(fault.BodyTooLarge, "The body may have %d MiB.", limit>>20)
}

// unreadBody tells whether part of the body is still on its way.
func unreadBody(c *fiber.Ctx, r *request) bool {
	n := c.Request().Header.ContentLength()
	return (n > prefetched || n == -1) && !r.bodyRead
}

// humaContext lets admitted have a method of the same name.
type humaContext = huma.Context

// admitted is a request whose body has been read: huma gets it from memory, and sets no deadlines of its own.
type admitted struct {
	humaContext
	body []byte
	ctx  context.Context //nolint:containedctx // it is huma's way to hand a context to the handler
}

// Unwrap is for humafiber.Unwrap.
func (a *admitted) Unwrap() huma.Context { return a.humaContext }

// Context is the handler's.
func (a *admitted) Context() context.Context { return a.ctx }

// Header is huma's way to learn the body's format. What passed contentType is JSON, however it was spelled; a body that
// is none is the handler's.
func (a *admitted) Header(name string) string {
	if name == "Content-Type" && requestOf(a.ctx).op.Takes == nil && requestOf(a.ctx).op.Form == nil {
		return "application/json"
	}
	return a.humaContext.Header(name)
}

// BodyReader reads the body from memory.
func (a *admitted) BodyReader() io.Reader { return bytes.NewReader(a.body) }

// SetReadDeadline does nothing: the body is here.
func (a *admitted) SetReadDeadline(time.Time) error { return nil }
