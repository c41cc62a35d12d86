package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// schema is a JSON schema.
type schema = map[string]any

// Schemas are the schemas of all kinds that are known, by apiVersion and kind.
type Schemas map[string]schema

func kindKey(apiVersion, kind string) string { return apiVersion + " " + kind }

// errNoKinds means that a file is not what it used to be.
var errNoKinds = errors.New("no kind is defined")

// AddOpenAPI adds the kinds of Kubernetes' OpenAPI document.
func (s Schemas) AddOpenAPI(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var doc struct {
		Definitions map[string]schema `json:"definitions"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	// The document calls both strings, and the server takes numbers as well.
	doc.Definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = schema{"type": []any{"string", "integer"}}
	doc.Definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] = schema{"type": []any{"string", "number"}}
	n := len(s)
	for name, d := range doc.Definitions {
		kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 { // what is part of several kinds, such as DeleteOptions, is no resource
			continue
		}
		k, _ := kinds[0].(map[string]any)
		version := strings.TrimPrefix(fmt.Sprint(k["group"], "/", k["version"]), "/")
		used := map[string]any{}
		closure(doc.Definitions, name, used)
		s[kindKey(version, fmt.Sprint(k["kind"]))] = schema{"$ref": "#/definitions/" + name, "definitions": used}
	}
	if len(s) == n {
		return fmt.Errorf("read %s: %w", file, errNoKinds)
	}
	return nil
}

// closure copies the definition called name into used, strict, with all that it refers to.
func closure(all map[string]schema, name string, used map[string]any) {
	if _, done := used[name]; done {
		return
	}
	used[name] = schema{} // for definitions that refer to themselves
	used[name] = strict(all[name], func(ref string) {
		closure(all, strings.TrimPrefix(ref, "#/definitions/"), used)
	})
}

// AddCRD adds the versions of a custom resource definition.
func (s Schemas) AddCRD(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd struct {
		Spec struct {
			Group string
			Names struct{ Kind string }
			// The versions' schemas.
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if len(crd.Spec.Versions) == 0 {
		return fmt.Errorf("read %s: %w", file, errNoKinds)
	}
	for _, v := range crd.Spec.Versions {
		s[kindKey(crd.Spec.Group+"/"+v.Name, crd.Spec.Names.Kind)] = schema{
			"allOf": []any{strict(v.Schema.OpenAPIV3Schema, func(string) {})},
		}
	}
	return nil
}

// strict returns a copy of v that accepts no unknown properties, without descriptions. It calls refer with each
// reference.
func strict(v any, refer func(string)) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, strict(e, refer))
		}
		return out
	case map[string]any:
		out := schema{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			_, text := v[k].(string)
			if k == "description" && text {
				continue
			}
			if ref, ok := v[k].(string); ok && k == "$ref" {
				refer(ref)
			}
			out[k] = strict(v[k], refer)
		}
		_, fields := v["properties"].(map[string]any)
		if _, said := v["additionalProperties"]; fields && !said && v["x-kubernetes-preserve-unknown-fields"] != true {
			out["additionalProperties"] = false
		}
		return out
	default:
		return v
	}
}

// location is the template by which kubeconform finds the files that Write has written.
const location = "{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json"

// Write writes the schemas of the kinds of the manifests to dir. It returns where kubeconform finds them.
func (s Schemas) Write(dir string, manifests []Manifest) (string, error) {
	for _, m := range manifests {
		one, ok := s[kindKey(m.APIVersion, m.Kind)]
		if !ok {
			return "", fmt.Errorf("there is no schema for %s %s", m.APIVersion, m.Kind)
		}
		text, err := json.Marshal(one)
		if err != nil {
			return "", err
		}
		parts := strings.Split(m.APIVersion, "/") // as kubeconform does: v1 is both the group and the version
		name := fmt.Sprintf("%s-%s-%s.json", strings.ToLower(m.Kind), parts[0], parts[len(parts)-1])
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, location), nil
}
