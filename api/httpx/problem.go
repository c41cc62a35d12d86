package httpx

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Problem is the body of every error response (RFC 9457). Extension members, such as limit and used, appear beside
// these.
type Problem struct { //nolint:errname // the schema has this name
	_          struct{}           `additionalProperties:"true"`
	Type       string             `json:"type" doc:"URL of the page about this code"`
	Title      string             `json:"title" doc:"The same for every problem with this code"`
	Status     int                `json:"status" doc:"The HTTP status code of the response"`
	Detail     string             `json:"detail" doc:"What happened and what to do about it, for people"`
	Instance   string             `json:"instance" doc:"urn:uuid: followed by the request id"`
	Code       fault.Code         `json:"code"`
	RequestID  string             `json:"request_id" doc:"The request's id, as in the header X-Request-Id"`
	Errors     []fault.FieldError `json:"errors,omitempty" doc:"The invalid members or parameters of the request"`
	ExistingID string             `json:"existing_id,omitempty" doc:"With a conflict: ID of the row that is in the way"`

	more   map[string]any
	header http.Header
}

// Descriptions implements wire.Describer.
func (Problem) Descriptions() map[string]string {
	return map[string]string{
		"code": "The kind of the problem, for programs to switch on; new codes may be added",
	}
}

// ErrorsPath is the path below which each code has a page.
const ErrorsPath = "/docs/errors"

const problemType = "application/problem+json"

func (p *Problem) Error() string { return string(p.Code) }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns Retry-After and WWW-Authenticate, if they apply. It implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType returns the media type of problems.
func (p *Problem) ContentType(string) string { return problemType }

// TransformSchema adds the list of codes to the schema.
func (p *Problem) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	codes := fault.Codes()
	slices.Sort(codes)
	for _, c := range codes {
		s.Properties["code"].Enum = append(s.Properties["code"].Enum, string(c))
	}
	s.Properties["errors"].Nullable = false
	return s
}

// MarshalJSON writes the extension members after the fixed ones, sorted.
func (p *Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	var b bytes.Buffer
	if err := Marshal(&b, (*plain)(p)); err != nil || len(p.more) == 0 {
		return b.Bytes(), err
	}

	b.Truncate(b.Len() - len("}\n"))
	more, err := json.Marshal(p.more) // json.Marshal sorts maps
	if err != nil {
		return nil, err
	}

	more[0] = ','
	b.Write(more)

	return b.Bytes(), nil
}

// problemOf converts a fault to its wire form.
func problemOf(f *fault.Fault, r *Request) *Problem {
	p := &Problem{
		Type: r.site + ErrorsPath + "/" + string(f.Code), Title: codeInWords(f.Code), Status: f.Code.Status(),
		Detail:   f.Detail,
		Instance: "urn:uuid:" + r.ID, Code: f.Code, RequestID: r.ID, Errors: f.Fields, ExistingID: f.ExistingID,
		more:   maps.Clone(f.More),
		header: http.Header{},
	}
	maps.DeleteFunc(p.more, func(k string, _ any) bool { return reserved[k] })
	switch wait := f.RetryAfter; {
	case wait > 0:
		p.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	case p.Status == http.StatusServiceUnavailable:
		p.header.Set("Retry-After", "1")
	}

	if p.Status == http.StatusUnauthorized { // RFC 9110 requires a challenge, also for a failed login
		challenge := `Bearer realm="funnelwork"`
		if r.refused != nil {
			challenge += `, error="invalid_token"`
		}
		p.header.Set("WWW-Authenticate", challenge)
	}

	r.problem = p

	return p
}

// reserved is the set of members that a fault cannot overwrite.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for f := range reflect.TypeFor[Problem]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}()

// codeInWords returns the code in words: "rate_limited" is "Rate limited".
func codeInWords(c fault.Code) string {
	words := strings.ReplaceAll(string(c), "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// fiberFault converts Fiber's own errors to faults.
func fiberFault(e *fiber.Error) *fault.Fault {
	switch e.Code {
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "There is nothing at this address.")
	case http.StatusMethodNotAllowed:
		return fault.New(fault.MethodNotAllowed,
			"The method is not allowed here. The Allow header lists the allowed methods.")
	case http.StatusRequestTimeout:
		return fault.New(fault.RequestTimeout, "The request took too long to arrive.")
	case http.StatusRequestEntityTooLarge:
		return tooLarge(bodyBytes)
	case http.StatusRequestHeaderFieldsTooLarge:
		return fault.Newf(fault.HeaderTooLarge, "The address and the headers may have %d KiB together.",
			headerBytes>>10)
	default:
		return fault.New(fault.MalformedRequest, unreadable).Because(e)
	}
}

func tooLarge(limit int64) *fault.Fault {
	if limit < 1<<20 {
		return fault.Newf(fault.BodyTooLarge, "The body may have %d KiB.", limit>>10)
	}
	return fault.Newf(fault.BodyTooLarge, "The body may have %d MiB.", limit>>20)
}

const unreadable = "This is not a request that we can read."
