package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/suppression/imports"
	"github.com/funnelwork/funnelwork/jobs/suppressionimport"
)

const suppressionImportsPath = suppressionsPath + "/imports"

func (a *App) mountSuppressionImports() {
	const tag = "Suppressions"
	httpx.Route(a.Server, httpx.Op{
		ID:     "suppressions.import",
		Method: http.MethodPost, Path: suppressionImportsPath, Need: httpx.Member, Tag: tag,
		Title: "Import suppressions from a CSV file", Secret: true, Status: http.StatusAccepted,
		Form: suppressionImportForm(), MaxBody: importBytes, Writes: []string{suppressionimport.Kind.Name()},
		May: []int{http.StatusUnsupportedMediaType},
	}, a.importSuppressions)
	httpx.Route(a.Server, httpx.Op{
		ID:     "suppressions.get_import",
		Method: http.MethodGet, Path: suppressionImportsPath + "/{id}", Need: httpx.Viewer, Tag: tag,
		Title: "Get an import of suppressions", Secret: true,
	}, a.getSuppressionImport)
}

// suppressionImportForm returns the schema of the body for the API document. suppressionForm parses the body.
func suppressionImportForm() *huma.Schema {
	word := func(doc, absent string, words ...any) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Enum: words, Default: absent, Description: doc}
	}
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"file"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"file": {
				Type: huma.TypeString, Format: "binary",
				Description: "A file with a header, at most 512 MiB: CSV, also compressed (.csv.gz), the first " +
					"sheet of " +
					"an .xlsx, or vCards. Encoding, delimiter and header are detected",
			},
			"strict":    word("A cell that is not understood costs its row", "false", "true", "false"),
			"encoding":  {Type: huma.TypeString, Description: "As for imports of contacts. Default: detected"},
			"delimiter": {Type: huma.TypeString, Description: "As for imports of contacts. Default: detected"},
			"purpose": word("Purpose of lines without their own", suppression.All, suppression.Marketing,
				suppression.All),
			"reason": word("Reason of lines without their own", suppression.Manual, suppression.Unsubscribe,
				suppression.Complaint, suppression.HardBounce, suppression.Manual),
		},
	}
}

// suppressionForm reads the parts of an import in any order. It stores the file while reading it, and discards it on an
// error.
func (a *App) suppressionForm(ctx context.Context, r *httpx.Request) (staged *imports.Staged, c imports.Choices,
	err error,
) {
	var options sheet.Options
	kind, who := r.Who.Actor()
	by := kind + "/" + who
	err = readParts(r, func(name, file string, in io.Reader) (err error) {
		switch name {
		case "file":
			if staged, err = imports.Stage(ctx, a.DB, r.Who.Org, by, in, options); err == nil {
				staged.FileName = file
			}
			return err
		case "purpose", "reason":
			word, err := wholePart(name, in)
			if name == "purpose" {
				c.Purpose = strings.TrimSpace(string(word))
			} else {
				c.Reason = strings.TrimSpace(string(word))
			}
			return err
		}
		return readSuppressionOption(name, in, &c, &options)
	})
	if err == nil && staged != nil {
		staged, err = staged.Reread(ctx, a.DB, r.Who.Org, by, options)
	}
	if err == nil && staged == nil {
		err = fault.Invalid("file", "required", "This field is required.")
	}
	if err == nil {
		f := form.At("")
		c.Check(f)
		err = f.Fault()
	}
	if err != nil && staged != nil {
		staged.Drop(ctx, a.DB, r.Who.Org)
		staged = nil
	}

	return staged, c, err
}

// readSuppressionOption reads a part with an option of the reading.
func readSuppressionOption(name string, in io.Reader, c *imports.Choices, o *sheet.Options) error {
	switch name {
	case "encoding", "delimiter":
		return readFileOption(name, in, o)
	case "strict":
		b, err := wholePart(name, in)
		if err != nil {
			return err
		}
		return readFlag(name, b, &c.Strict)
	}
	return fault.Invalid(name, "unknown_field", fault.Choices("An import has no such part.", name,
		[]string{"file", "purpose", "reason", "strict", "encoding", "delimiter"}))
}

// suppressionImport is the public form of an import.
type suppressionImport struct{ imports.Import }

type suppressionImportStarted struct {
	Location string `header:"Location" doc:"Address of the progress"`
	Body     suppressionImport
}

// importSuppressions stores the file as it arrives, in separate transactions. It then creates the import, its job and
// the stored response in one transaction.
func (a *App) importSuppressions(ctx context.Context, _ *struct{}) (*suppressionImportStarted, error) {
	r := httpx.RequestOf(ctx)
	done, err := a.uploads.Begin(r.Who.Org)
	if err != nil {
		return nil, err
	}

	defer done()

	staged, choices, err := a.suppressionForm(ctx, r)
	if err != nil {
		return nil, err
	}

	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*suppressionImportStarted, error) {
		i, err := imports.Queue(ctx, tx, staged, choices)
		if err != nil {
			return nil, err
		}
		return &suppressionImportStarted{
				Location: suppressionImportsPath + "/" + i.ID.String(), Body: suppressionImport{i},
			},
			suppressionimport.Kind.Add(ctx, tx, suppressionimport.Args{Import: i.ID})
	})
	if err != nil || r.Replayed {
		staged.Drop(ctx, a.DB, r.Who.Org)
	}

	return out, err
}

type suppressionImportOut struct {
	httpx.Tagged
	Body suppressionImport
}

func (a *App) getSuppressionImport(ctx context.Context, in *struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the import"`
},
) (*suppressionImportOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*suppressionImportOut, error) {
		i, err := imports.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}

		now := time.Now()
		if i.HasErrors(now) {
			link := exports.Link{Kind: imports.ErrorsLink, Org: tx.Org(), ID: i.ID}
			url := a.PublicURL + filesPath + exports.Sign(link, i.Key, now)
			i.ErrorsURL = &url
		}
		if i.HasWarnings(now) {
			link := exports.Link{Kind: imports.WarningsLink, Org: tx.Org(), ID: i.ID}
			url := a.PublicURL + filesPath + exports.Sign(link, i.Key, now)
			i.WarningsURL = &url
		}

		// The link changes with the hour, and so does the tag.
		return &suppressionImportOut{
			Tagged: httpx.ETag(1, i.Computed+int(now.Sub(i.CreatedAt.Time)/time.Hour)), Body: suppressionImport{i},
		}, nil
	})
}
