package console

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
)

// built are the files that "npm run build" wrote. The form all: includes names that begin with "_" or ".".
//
//go:embed all:dist
var built embed.FS

const (
	distDir  = "dist"
	gzipForm = ".gz"
	brForm   = ".br"
)

// kinds are the media types of the files that a build writes. Those of text are compressed.
var kinds = map[string]string{
	".css":   "text/css; charset=utf-8",
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".png":   "image/png",
	".woff2": "font/woff2",
}

// compressed reports whether a built file has compressed forms. Fonts and images are compressed already.
func compressed(name string) bool {
	kind := kinds[path.Ext(name)]
	return strings.HasPrefix(kind, "text/") || kind == "image/svg+xml"
}

// asset is one built file.
type asset struct {
	kind, tag string
	body      *httpx.Fixed
}

// assets returns the built files by their paths below dist, without the compressed forms.
func assets(files fs.FS) (map[string]asset, error) {
	all := map[string]asset{}
	err := fs.WalkDir(files, distDir, func(name string, entry fs.DirEntry, err error) error {
		form := path.Ext(name) == gzipForm || path.Ext(name) == brForm
		if err != nil || entry.IsDir() || form {
			return err
		}
		one, err := read(files, name)
		all[strings.TrimPrefix(name, distDir+"/")] = one
		return err
	})
	return all, err
}

func read(files fs.FS, name string) (asset, error) {
	kind := kinds[path.Ext(name)]
	if kind == "" {
		return asset{}, fmt.Errorf("%s has no known media type", name)
	}
	plain, err := fs.ReadFile(files, name)
	if err != nil {
		return asset{}, err
	}
	one := asset{kind: kind, tag: tagOf(plain)}
	if !compressed(name) {
		one.body = httpx.Precompressed(plain, nil, nil)
		return one, nil
	}
	gz, err := fs.ReadFile(files, name+gzipForm)
	if err != nil {
		return asset{}, err
	}
	br, err := fs.ReadFile(files, name+brForm)
	one.body = httpx.Precompressed(plain, gz, br)
	return one, err
}

// tagOf returns the ETag of a body.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
