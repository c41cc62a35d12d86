package pages

import (
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/examples"
)

// examplesNote is the paragraph about the examples in the description of the API document.
const examplesNote = "The examples are requests and responses of a test. An id that begins with " +
	examples.IDPrefix + " and a text with " + examples.Placeholder + " stand for values of your own. Every other " +
	"example request succeeds as it is. An id in a path is never prefilled: take it from the response of the " +
	"operation that creates or lists the resource."

// documentExamples adds the recorded examples to the requests and responses of the document. It panics on an example
// that the document has no place for. An operation may lack an example, as those that only tests mount do.
func documentExamples(doc *huma.OpenAPI, all map[string]examples.Example) {
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			if e, ok := all[op.OperationID]; ok {
				documentExample(op, &e)
			}
		}
	}
}

func documentExample(op *huma.Operation, e *examples.Example) {
	const jsonType = "application/json"
	if e.Request != nil {
		kind := e.ContentType
		if kind == "" {
			kind = jsonType
		}
		if op.RequestBody == nil || op.RequestBody.Content[kind] == nil {
			panic(fmt.Sprintf("the example of %s has a body of %s", op.OperationID, kind))
		}
		// The form of a merge patch shares the media type object of JSON.
		op.RequestBody.Content[kind].Example = e.Request
	}

	if e.Response != nil {
		response := op.Responses[strconv.Itoa(e.Status)]
		if response == nil || response.Content[jsonType] == nil {
			panic(fmt.Sprintf("the example of %s has a JSON response of status %d", op.OperationID, e.Status))
		}
		response.Content[jsonType].Example = e.Response
	}
}
