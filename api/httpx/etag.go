package httpx

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Tagged is embedded by the output of every single resource. The server responds to a GET with a matching If-None-Match
// with 304; handlers need not check it.
type Tagged struct {
	ETag string `header:"ETag" doc:"Edit version and computed version: \"<edit>.<computed>\""`
}

// ETag returns the tag of a version. An edit increments the first number; background work increments only the second.
func ETag[E, C int | int32 | int64](edit E, computed C) Tagged {
	return Tagged{fmt.Sprintf(`"%d.%d"`, edit, computed)}
}

// Digest returns a tag computed from the response, for a resource without version counters. It is never edited, so only
// the second number changes.
func Digest(shown any) (Tagged, error) {
	b, err := json.Marshal(shown)
	if err != nil {
		return Tagged{}, fmt.Errorf("encode for an etag: %w", err)
	}
	sum := sha256.Sum256(b)
	return ETag(1, int64(binary.BigEndian.Uint64(sum[:])>>1)), nil
}

// IfMatch is embedded by the input of every PATCH and DELETE of a tagged resource.
type IfMatch struct {
	Value string `header:"If-Match" doc:"ETag of the version to change; only its first number is compared"`
}

// Check returns a 412 if the caller sent an If-Match that does not match this edit. It must be called with the row
// locked, otherwise two callers with the same tag may both pass.
func (m IfMatch) Check(edit int64) error {
	if m.Value == "" {
		return nil
	}

	for one := range strings.SplitSeq(m.Value, ",") {
		one = strings.TrimSpace(one)
		if given, ok := editOf(one); one == "*" || ok && given == edit {
			return nil
		}
	}

	return fault.New(fault.PreconditionFailed,
		"The resource was changed. Read it again and repeat the change on its current state.")
}

// editOf returns the first number of a tag. A weak tag has none, since it does not identify an exact state (RFC 9110,
// 13.1.1).
func editOf(tag string) (int64, bool) {
	if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		return 0, false
	}
	inner := tag[1 : len(tag)-1]
	first, second, two := strings.Cut(inner, ".")
	if _, err := strconv.ParseUint(second, 10, 64); two && err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(first, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == first
}

// oneLine joins repeated headers into one line, as HTTP defines (RFC 9110, 5.3).
func oneLine(c *fiber.Ctx, names ...string) {
	for _, name := range names {
		if lines := c.Request().Header.PeekAll(name); len(lines) > 1 {
			c.Request().Header.Set(name, string(bytes.Join(lines, []byte(", "))))
		}
	}
}

// notModified turns the response into a 304 if the caller already has the resource's current tag, and reports whether
// it did.
func notModified(c *fiber.Ctx) bool {
	given := c.Get("If-None-Match")
	if given == "" || c.Response().StatusCode() != http.StatusOK ||
		c.Method() != http.MethodGet && c.Method() != http.MethodHead {
		return false
	}

	tag := string(c.Response().Header.Peek("ETag"))
	if tag == "" {
		return false
	}

	for one := range strings.SplitSeq(given, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			c.Status(http.StatusNotModified).Response().ResetBody()
			c.Response().Header.Del("Content-Type")
			return true
		}
	}

	return false
}
