package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api/examples"
)

// recorder makes requests by operation id and keeps each request with its response as an example.
type recorder struct {
	*service
	began time.Time
	got   map[string]examples.Example
}

// call sends a request to an operation and records it. It fails unless the response is a success. body is JSON, or nil;
// params fill the placeholders of the path in order.
func (r *recorder) call(c *caller, operation string, body any, params ...string) answer {
	r.Helper()
	method, path := r.locate(operation)
	for _, value := range params {
		path = strings.Replace(path, placeholder.FindString(path), value, 1)
	}
	got := c.do(method, path, body)
	r.record(operation, "", body, got)
	return got
}

// record keeps an exchange that has a body. kind is the media type of a request that is not JSON, or "".
func (r *recorder) record(operation, kind string, body any, got answer) {
	r.Helper()
	var request []byte
	switch b := body.(type) {
	case nil:
	case string:
		request = []byte(b)
	default:
		var err error
		if request, err = json.Marshal(b); err != nil {
			r.Fatal(err)
		}
	}
	if got.Status < 200 || got.Status > 299 {
		r.Fatalf("%s: %d %s", operation, got.Status, got.Body)
	}
	if _, twice := r.got[operation]; twice {
		r.Errorf("%s is recorded twice", operation)
	}
	var response []byte
	if strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		response = got.Body
	}
	if request == nil && response == nil {
		return
	}
	request, response = r.stable(request, response)
	r.got[operation] = examples.Example{ContentType: kind, Request: request, Status: got.Status, Response: response}
}

// locate returns the method and the path of an operation.
func (s *service) locate(operation string) (method, path string) {
	s.Helper()
	for path, item := range s.spec.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == operation {
				return method, path
			}
		}
	}
	s.Fatalf("there is no operation %s", operation)
	return "", ""
}

// TestTheExamplesAreOfRealResponses goes through every operation and compares each exchange with its file: the request,
// the status, and the members and types of the response. With -update it writes the files that differ.
func TestTheExamplesAreOfRealResponses(t *testing.T) {
	t.Parallel()
	r := &recorder{service: start(t, unlimited), began: time.Now(), got: map[string]examples.Example{}}
	if _, err := r.sync().Publish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	ada := r.tellOfPeople()
	r.tellOfRecords(ada)
	r.tellOfContacts(ada)
	r.tellOfWebhooks(ada)
	r.tellOfMailboxes(ada)
	r.tellOfSending(ada)
	r.tellOfBroadcasts(ada)
	r.tellOfSuppressions(ada)
	r.tellOfScreens(ada)
	r.tellOfScores(ada)
	r.tellOfAccounts(ada)
	r.tellOfBilling(ada)
	r.tellOfResellers()
	if *update {
		r.write()
		return
	}
	known := examples.All()
	for _, operation := range slices.Sorted(maps.Keys(known)) {
		if _, ok := r.got[operation]; !ok {
			t.Errorf("%s.json is of no operation that the test calls: delete it", operation)
		}
	}
	for operation, got := range r.got {
		if old, ok := known[operation]; !ok || shapeOfExample(old) != shapeOfExample(got) {
			t.Errorf(
				"the example of %s differs; look at the change, then run with -update\nwant %s\ngot  %s",
				operation,
				shapeOfExample(old),
				shapeOfExample(got),
			)
		}
	}
}

// write writes the examples whose shape has changed, so that a run without a change rewrites no file.
func (r *recorder) write() {
	r.Helper()
	for operation, e := range r.got {
		path := filepath.Join("examples", operation+".json")
		var old examples.Example
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &old)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.Fatal(err)
		}
		if err == nil && shapeOfExample(old) == shapeOfExample(e) {
			continue
		}
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := errors.Join(encoder.Encode(e), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
			r.Fatal(err)
		}
	}
}

// shapeOfExample returns the request and the members and types of the response of an example.
func shapeOfExample(e examples.Example) string {
	var request bytes.Buffer
	if e.Request != nil {
		if err := json.Compact(&request, e.Request); err != nil {
			return err.Error()
		}
	}
	return fmt.Sprint(request.String(), " ", e.ContentType, " ", e.Status, " ", shapeOf(e.Response))
}

// shapeOf returns the members and types of a JSON text. The elements of an array count once per shape.
func shapeOf(text json.RawMessage) string {
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0:
		return "nothing"
	case json.Unmarshal(trimmed, &members) == nil && members != nil:
		var shapes []string
		for _, name := range slices.Sorted(maps.Keys(members)) {
			shapes = append(shapes, name+":"+shapeOf(members[name]))
		}
		return "{" + strings.Join(shapes, " ") + "}"
	case json.Unmarshal(trimmed, &elements) == nil && elements != nil:
		var shapes []string
		for _, one := range elements {
			shapes = append(shapes, shapeOf(one))
		}
		slices.Sort(shapes)
		return "[" + strings.Join(slices.Compact(shapes), " ") + "]"
	case trimmed[0] == '"':
		return "text"
	case trimmed[0] == 't', trimmed[0] == 'f':
		return "bool"
	case trimmed[0] == 'n':
		return "null"
	default:
		return "number"
	}
}
