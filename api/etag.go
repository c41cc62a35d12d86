package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Tagged is embedded by the output of every single resource. A GET with a matching If-None-Match becomes a 304
// by itself.
type Tagged struct {
	ETag string `header:"ETag" doc:"The edit and the computed version: \"<edit>.<computed>\""`
}

// etag is the tag of one state: an edit moves the first number, background work only the second.
func etag[E, C int | int32 | int64](edit E, computed C) Tagged {
	return Tagged{fmt.Sprintf(`"%d.%d"`, edit, computed)}
}

// IfMatch is embedded by the input of every PATCH and DELETE of a tagged resource.
type IfMatch struct {
	Value string `header:"If-Match" doc:"ETag of the state that the change is based on; only its first number is compared"`
}

// check is a 412 unless the caller sent no If-Match, or one that names this edit. Call it with the row locked,
// else two callers with one tag may both pass.
func (m IfMatch) check(edit int64) error {
	if m.Value == "" {
		return nil
	}
	for one := range strings.SplitSeq(m.Value, ",") {
		one = strings.TrimSpace(one)
		first, _, _ := strings.Cut(strings.Trim(one, `"`), ".")
		if one == "*" || strings.HasPrefix(one, `"`) && first == strconv.FormatInt(edit, 10) {
			return nil
		}
	}
	return fault.New(fault.PreconditionFailed, "It was changed meanwhile. Read it again and repeat the change on what you find.")
}

// notModified empties the answer to a GET whose tag the caller has already.
func notModified(c *fiber.Ctx) {
	given := c.Get("If-None-Match")
	if given == "" || c.Response().StatusCode() != http.StatusOK || c.Method() != http.MethodGet && c.Method() != http.MethodHead {
		return
	}
	tag := string(c.Response().Header.Peek("ETag"))
	if tag == "" {
		return
	}
	for one := range strings.SplitSeq(given, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			c.Status(http.StatusNotModified).Response().ResetBody()
			c.Response().Header.Del("Content-Type")
			return
		}
	}
}
