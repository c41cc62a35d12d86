package check

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Manifest is a rendered resource.
type Manifest struct {
	YAML []byte
	Object
}

// Render builds a kustomization as `kubectl kustomize` does.
func Render(dir string) ([]Manifest, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", dir, err)
	}
	var out []Manifest
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return nil, err
		}
		m, err := Parse(text)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Parse decodes a resource.
func Parse(text []byte) (Manifest, error) {
	m := Manifest{YAML: text}
	if err := yaml.Unmarshal(text, &m.Object); err != nil {
		return m, fmt.Errorf("parse manifest: %w: %s", err, text)
	}
	return m, nil
}

// Kustomizations returns the directories below root that can be applied: the base and each overlay.
func Kustomizations(root string) ([]string, error) {
	overlays, err := os.ReadDir(filepath.Join(root, "overlays"))
	if err != nil {
		return nil, err
	}
	dirs := []string{filepath.Join(root, "base")}
	for _, o := range overlays {
		dirs = append(dirs, filepath.Join(root, "overlays", o.Name()))
	}
	return dirs, nil
}
