package wire_test

import (
	"maps"
	"reflect"
	"testing"

	"github.com/funnelwork/funnelwork/internal/wire"
)

type inner struct{}

func (inner) Descriptions() map[string]string { return map[string]string{"a": "inner", "b": "inner"} }

type sibling struct{}

func (sibling) Descriptions() map[string]string { return map[string]string{"c": "sibling"} }

type outer struct {
	inner
	sibling
}

type overriding struct{ inner }

func (overriding) Descriptions() map[string]string { return map[string]string{"a": "overriding"} }

func TestDescriptionsOfEmbeddedTypesAreKept(t *testing.T) {
	t.Parallel()
	for of, want := range map[reflect.Type]map[string]string{
		reflect.TypeFor[struct{}]():               {},
		reflect.TypeFor[string]():                 {},
		reflect.TypeFor[inner]():                  {"a": "inner", "b": "inner"},
		reflect.TypeOf(outer{inner{}, sibling{}}): {"a": "inner", "b": "inner", "c": "sibling"},
		reflect.TypeOf(overriding{inner{}}):       {"a": "overriding", "b": "inner"},
	} {
		if got := wire.DescriptionsOf(of); !maps.Equal(got, want) {
			t.Errorf("%v: %v, want %v", of, got, want)
		}
	}
}
