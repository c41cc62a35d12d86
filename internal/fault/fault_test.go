package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/funnelwork/funnelwork/internal/fault"
)

func TestEveryDeclaredCodeIsPublishedWithAStatus(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	published := fault.Codes()
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		declared++
		code, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(published, fault.Code(code)) {
			t.Errorf("%s is declared and has no status", code)
		}
		return true
	})
	if declared != len(published) {
		t.Errorf("%d codes are declared, %d published", declared, len(published))
	}
}

func TestAFaultIsFoundThroughWrapping(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk")
	err := fmt.Errorf("create contact: %w", fault.New(fault.ContactExists, "taken").Because(cause))
	if !fault.Is(err, fault.ContactExists) || fault.Is(err, fault.Conflict) {
		t.Errorf("code of %v is not found", err)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if fault.Of(cause) != nil {
		t.Error("an ordinary error became a fault")
	}
	if got := fault.Code("unheard_of").Status(); got != 500 {
		t.Errorf("status of an unpublished code = %d, want 500", got)
	}
}
