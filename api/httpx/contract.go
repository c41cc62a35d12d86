package httpx

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Contract is what the Go types of a Server's operations say: the API document with its schemas, and for each operation
// the function that reads and validates its request and writes its response. Deriving it takes most of the time that a
// Server is made in, so Servers of one process with the same operations may share that of the first one.
type Contract struct {
	api      huma.API
	describe func(o Op) string
	terms    map[string]*term // by the operation's id
	complete bool
}

// term is the part of a Contract for one operation.
type term struct {
	derived

	in, out   reflect.Type
	operation huma.Operation
	handle    func(huma.Context) // calls the function in the request's handle
}

func newContract(c Config) *Contract {
	return &Contract{api: huma.NewAPI(humaConfig(c), nil), describe: c.Describe, terms: map[string]*term{}}
}

// Complete calls change once with the document, when the first Server has all its operations. After that it panics if s
// has other operations than the first one. change is not called again.
func (s *Server) Complete(change func(*huma.OpenAPI)) {
	c := s.Contract
	switch {
	case !c.complete:
		change(c.api.OpenAPI())
		c.complete = true
	case len(s.Ops) != len(c.terms):
		panic(fmt.Sprintf("%d operations are mounted, and the contract has %d", len(s.Ops), len(c.terms)))
	}
}

// termOf returns the term of o, which it derives from the types at first.
func termOf[I, O any](c *Contract, o *Op) *term {
	in, out := reflect.TypeFor[I](), reflect.TypeFor[O]()
	t := c.terms[o.ID]
	if t == nil && !c.complete {
		t = &term{in: in, out: out}
		c.deriveTerm(t, o, func(api huma.API, h huma.Operation) { huma.Register(api, h, callMounted[I, O]) })
		c.terms[o.ID] = t
	}
	if t == nil || t.in != in || t.out != out || t.operation.Method != o.Method || t.operation.Path != o.Path {
		panic(o.ID + " is not an operation of the given contract")
	}

	return t
}

// callMounted calls the function that the request's Server has mounted.
func callMounted[I, O any](ctx context.Context, in *I) (*O, error) {
	handle, _ := RequestOf(ctx).handle.(func(context.Context, *I) (*O, error)) // termOf has compared the types
	return handle(ctx, in)
}

// deriveTerm fills in the term of o and adds o to the document.
func (c *Contract) deriveTerm(t *term, o *Op, register func(huma.API, huma.Operation)) {
	checkEmbedded(t.in)
	checkEmbedded(t.out)
	h := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Title, Description: c.describe(*o),
		Tags:          []string{o.Tag},
		DefaultStatus: o.Status, MaxBodyBytes: -1, RequestBody: &huma.RequestBody{}, Parameters: headerParameters(*o),
		Responses: map[string]*huma.Response{}, Security: securityOf(*o), SkipValidateBody: o.ByRow,
	}
	documented := h
	register(&registration{c.api, &documented, t}, h)
	describeOperation(t.in, t.out, &documented, c.api.OpenAPI().Components.Schemas)
	c.addOperation(o, &documented)
	t.derived = o.derived
}

// registration captures the operation that huma derives from the types, so that only document writes to the API
// document, and the function that it would mount.
type registration struct {
	huma.API

	documented *huma.Operation
	term       *term
}

// DocumentOperation implements huma's hook.
func (r *registration) DocumentOperation(o *huma.Operation) { *r.documented = *o }

// Adapter returns r.
func (r *registration) Adapter() huma.Adapter { return r }

// Handle implements huma.Adapter.
func (r *registration) Handle(o *huma.Operation, handler func(huma.Context)) {
	r.term.operation = *o
	r.term.handle = handler
}

// ServeHTTP implements huma.Adapter. A registration has no address.
func (*registration) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
}
