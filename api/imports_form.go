package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"mime/multipart"
	"path"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// mappingBytes is the size limit of a mapping, and of any other part that is not a file.
const mappingBytes = 256 << 10

// readForm reads the parts of an import in any order. It stores the file while reading it, and discards it on an error.
func (a *App) readForm(ctx context.Context, r *httpx.Request) (staged *imports.Staged, c imports.Choices, err error) {
	var options sheet.Options
	err = readParts(r, func(name, file string, in io.Reader) (err error) {
		switch name {
		case "file":
			if staged, err = imports.Stage(ctx, a.DB, r.Who.Org, in, options); err == nil {
				staged.FileName = file
			}
			return err
		case "encoding", "delimiter":
			return readFileOption(name, in, &options)
		}
		return readChoice(name, in, &c)
	})
	if err == nil && staged != nil {
		staged, err = staged.Reread(ctx, a.DB, r.Who.Org, options)
	}
	if err == nil && staged == nil {
		err = fault.Invalid("file", "required", "This field is required.")
	}
	if err != nil && staged != nil {
		staged.Drop(ctx, a.DB, r.Who.Org)
		staged = nil
	}

	return staged, c, err
}

// readParts calls read with the name, the file name and the content of each part of a form. The request's fingerprint
// becomes that of its parts, since the multipart boundary differs each time a client sends them.
func readParts(r *httpx.Request, read func(name, file string, in io.Reader) error) error {
	sum := sha256.New()
	sum.Write(r.Fingerprint[:])
	parts := multipart.NewReader(r.Upload, r.Upload.Boundary)
	seen := map[string]bool{}
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return badForm(err)
		}

		name := p.FormName()
		if seen[name] {
			return fault.Invalid(name, "duplicate", "The part is sent twice.")
		}

		seen[name] = true
		in := &summed{from: p, sum: sum}
		if err = read(name, fileName(p.FileName()), in); err == nil {
			_, err = io.Copy(io.Discard, in)
		}
		if err != nil {
			return badForm(err)
		}

		in.endPart(name)
	}

	if _, err := io.Copy(io.Discard, r.Upload); err != nil {
		return err
	}

	sum.Sum(r.Fingerprint[:0])

	return nil
}

// wholePart reads a part that is not a file.
func wholePart(name string, in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, mappingBytes+1))
	if err == nil && len(b) > mappingBytes {
		err = fault.Invalid(name, "too_long", "At most 256 KiB are allowed.")
	}
	return b, err
}

// readFileOption reads a part with an option of the reading.
func readFileOption(name string, in io.Reader, o *sheet.Options) error {
	b, err := wholePart(name, in)
	if err != nil {
		return err
	}
	if name == "encoding" {
		o.Encoding = string(b)
	} else {
		o.Delimiter = string(b)
	}
	return o.Check()
}

// importParts are the parts of an import of contacts.
var importParts = []string{
	"file", "mapping", "types", "dry_run", "suppress_events", "create_companies", "strict", "encoding", "delimiter",
	"locale",
}

// readFlag reads a part that is true or false.
func readFlag(name string, b []byte, at *bool) error {
	switch text := strings.TrimSpace(string(b)); text {
	case "true", "false":
		*at = text == "true"
		return nil
	}
	return fault.Invalid(name, "invalid_type", "This is true or false.")
}

// readChoice reads a part that is not a file.
func readChoice(name string, in io.Reader, c *imports.Choices) error {
	b, err := wholePart(name, in)
	if err != nil {
		return err
	}

	switch name {
	case "mapping", "types":
		if err := httpx.ScanJSON(b); err != nil {
			return fault.Invalid(name, "invalid_type",
				"This is a JSON object of columns, each with a field's name or null, or with a type.").Because(err)
		}
		if name == "types" {
			c.Types = b
		} else {
			c.Mapping = b
		}
		return nil
	case "locale":
		c.Locale = strings.TrimSpace(string(b))
		return nil
	case "dry_run":
		return readFlag(name, b, &c.DryRun)
	case "suppress_events":
		return readFlag(name, b, &c.SuppressEvents)
	case "create_companies":
		return readFlag(name, b, &c.MakeCompanies)
	case "strict":
		return readFlag(name, b, &c.Strict)
	}

	return fault.Invalid(name, "unknown_field", fault.Choices("An import has no such part.", name, importParts))
}

// badForm returns the fault for an error in reading parts.
func badForm(err error) error {
	if f := fault.Of(err); f != nil {
		return f
	}
	return fault.New(fault.BadRequest, "The body ended early, or is not multipart/form-data.").Because(err)
}

// fileName returns the last element of the file name as sent, or "" if it is not valid text.
func fileName(sent string) string {
	name := path.Base(strings.ReplaceAll(sent, `\`, "/"))
	if name == "." || name == "/" || len(name) > 255 || strings.ToValidUTF8(name, "") != name ||
		strings.ContainsFunc(name, form.NotInLine) {
		return ""
	}
	return name
}

// summed is a reader that adds what it reads to a hash.
type summed struct {
	from io.Reader
	sum  hash.Hash
	n    uint64
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.sum.Write(p[:n])
	s.n += uint64(n)
	return n, err
}

// endPart completes a part's hash with the part's length and name.
func (s *summed) endPart(name string) {
	s.sum.Write(binary.BigEndian.AppendUint64(nil, s.n))
	s.sum.Write(binary.BigEndian.AppendUint64([]byte(name), uint64(len(name))))
}
