package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	suppressions "github.com/funnelwork/funnelwork/internal/suppression/imports"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const filesPath = "/api/v1/files/"

// workbookType is the media type of an .xlsx file.
const workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

func (a *App) mountFiles() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "files.download",
		Method: http.MethodGet, Path: filesPath + "{token}", Need: httpx.Public, Tag: "Files",
		Title: "Download a file with a signed link", Signed: true,
		Gives: []string{"text/csv", "application/x-ndjson", workbookType}, May: []int{http.StatusForbidden},
	}, a.getFile)
}

// fileOut is a file streamed from the database.
type fileOut struct {
	Kind        string `header:"Content-Type" hidden:"true"`
	Disposition string `header:"Content-Disposition" hidden:"true"`
	Body        func(huma.Context)
}

// getFile takes the signed link as the credential. The link names the file, and the file's own key signed it.
func (a *App) getFile(ctx context.Context, in *struct {
	Token string `path:"token" maxLength:"200" doc:"As in download_url or errors_url"`
},
) (*fileOut, error) {
	gone := fault.New(fault.NotFound,
		"There is no such file, or the link has expired: the export, or the import, has a new one.")
	link, ok := exports.ParseLink(in.Token)
	if !ok || time.Now().After(link.Ends) {
		httpx.Unverified(ctx)
		return nil, gone
	}

	var out *fileOut
	err := a.DB.ReadTx(ctx, link.Org, func(tx *postgres.Tx) error {
		if suspended, err := org.IsSuspended(ctx, tx); err != nil {
			return err
		} else if suspended {
			return httpx.Suspended()
		}

		switch link.Kind {
		case exports.FileLink:
			e, err := exports.Get(ctx, tx, link.ID)
			if err != nil {
				return err
			}
			if !link.Good(e.Key) || e.Status != "completed" || time.Now().After(e.ExpiresAt.Time) {
				return gone
			}
			kind := "text/csv; charset=utf-8"
			switch e.Format {
			case exports.NDJSON:
				kind = "application/x-ndjson"
			case exports.XLSX:
				kind = workbookType
			}
			out = &fileOut{
				Kind:        kind,
				Disposition: attachmentHeader("contacts-"+e.CreatedAt.Format(time.DateOnly), e.Format),
				Body:        streamBody(exports.Parts(&e, a.Reads.For(standby.File), link.Org), int(e.Bytes)),
			}
		case imports.ErrorsLink:
			i, err := imports.Get(ctx, tx, link.ID)
			if err == nil && !link.Good(i.Key) {
				err = gone
			}
			if err != nil {
				return err
			}
			out = rowsFile("failed-rows", i.CreatedAt, imports.Failed(&i, a.DB, link.Org))
		case imports.WarningsLink:
			i, err := imports.Get(ctx, tx, link.ID)
			if err == nil && !link.Good(i.Key) {
				err = gone
			}
			if err != nil {
				return err
			}
			out = rowsFile("warnings", i.CreatedAt, imports.Warnings(&i, a.DB, link.Org))
		case suppressions.ErrorsLink:
			i, err := suppressions.Get(ctx, tx, link.ID)
			if err == nil && !link.Good(i.Key) {
				err = gone
			}
			if err != nil {
				return err
			}
			out = rowsFile("failed-rows", i.CreatedAt, suppressions.Failed(&i, a.DB, link.Org))
		case suppressions.WarningsLink:
			i, err := suppressions.Get(ctx, tx, link.ID)
			if err == nil && !link.Good(i.Key) {
				err = gone
			}
			if err != nil {
				return err
			}
			out = rowsFile("warnings", i.CreatedAt, suppressions.Warnings(&i, a.DB, link.Org))
		default:
			return gone
		}

		return nil
	})
	if fault.Is(err, fault.NotFound) {
		httpx.Unverified(ctx)
		err = gone
	}

	return out, err
}

// rowsFile is a file about the rows of an import: those that it has refused, or its warnings.
func rowsFile(name string, made wire.Time, next func(context.Context) ([]byte, error)) *fileOut {
	return &fileOut{
		Kind:        "text/csv; charset=utf-8",
		Disposition: attachmentHeader(name+"-"+made.Format(time.DateOnly), "csv"),
		Body:        streamBody(next, -1),
	}
}

func attachmentHeader(name, ending string) string {
	return `attachment; filename="` + name + "." + ending + `"`
}

// partTime is the timeout for reading one part and for sending it.
const partTime = 60 * time.Second

// streamBody returns a response body that is read part by part while it is sent. size is -1 if unknown.
func streamBody(next func(context.Context) ([]byte, error), size int) func(huma.Context) {
	return func(hc huma.Context) {
		c := humafiber.Unwrap(hc)
		c.Context().SetBodyStream(&parts{
			next: next, conn: c.Context().Conn(),
			ctx: context.WithoutCancel(hc.Context()),
		}, size)
	}
}

// parts is a streamed response body. The server reads it after the handler has returned.
type parts struct {
	next func(context.Context) ([]byte, error)
	conn net.Conn
	ctx  context.Context //nolint:containedctx // a reader is given none
	left []byte
}

// Read returns the rest of the current part, or fetches the next.
func (p *parts) Read(b []byte) (int, error) {
	for len(p.left) == 0 {
		ctx, cancel := context.WithTimeout(p.ctx, partTime)
		data, err := p.next(ctx)
		cancel()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return 0, io.EOF
			}
			return 0, err
		}

		_ = p.conn.SetWriteDeadline(time.Now().Add(partTime)) // if it fails, the write fails too
		p.left = data
	}

	n := copy(b, p.left)
	p.left = p.left[n:]

	return n, nil
}
