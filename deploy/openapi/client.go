// Package openapi is the module of the generator whose Go client of the API deploy/openapi/check compiles. It is a
// module of its own, so that the generator is not in the service's go.mod.
package openapi

import (
	_ "github.com/oapi-codegen/runtime"       // imported by the generated client
	_ "github.com/oapi-codegen/runtime/types" // likewise
)
