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

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const filesPath = "/api/v1/files/"

func (a *App) mountFiles() {
	route(a, op{
		Method: http.MethodGet, Path: filesPath + "{token}", Need: public, Tag: "Files", Title: "Download a file by its signed link", Signed: true,
		Gives: []string{"text/csv", "application/x-ndjson"},
	}, a.getFile)
}

// fileOut is a file that is read from the database as it is sent.
type fileOut struct {
	Kind        string `header:"Content-Type" hidden:"true"`
	Disposition string `header:"Content-Disposition" hidden:"true"`
	Body        func(huma.Context)
}

// getFile takes the link for the credential: it names the file, and the file's own key has signed it.
func (a *App) getFile(ctx context.Context, in *struct {
	Token string `path:"token" maxLength:"200" doc:"As download_url or errors_url has it"`
},
) (*fileOut, error) {
	gone := fault.New(fault.NotFound, "There is no such file, or the link has ended: the export, or the import, has a new one.")
	link, ok := exports.ParseLink(in.Token)
	if !ok || time.Now().After(link.Ends) {
		return nil, gone
	}
	var out *fileOut
	err := a.DB.View(ctx, link.Org, func(tx *postgres.Tx) error {
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
			if e.Format == exports.NDJSON {
				kind = "application/x-ndjson"
			}
			out = &fileOut{Kind: kind, Disposition: attachment("contacts-"+e.CreatedAt.Format(time.DateOnly), e.Format), Body: sending(exports.Parts(&e, a.DB, link.Org), int(e.Bytes))}
		case imports.ErrorsLink:
			i, err := imports.Get(ctx, tx, link.ID)
			if err != nil {
				return err
			}
			if !link.Good(i.Key) {
				return gone
			}
			out = &fileOut{Kind: "text/csv; charset=utf-8", Disposition: attachment("failed-rows-"+i.CreatedAt.Format(time.DateOnly), "csv"), Body: sending(imports.Failed(&i, a.DB, link.Org), -1)}
		default:
			return gone
		}
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		err = gone
	}
	return out, err
}

func attachment(name, ending string) string {
	return `attachment; filename="` + name + "." + ending + `"`
}

// partTime is how long a part may take to be read, and to be sent.
const partTime = 60 * time.Second

// sending answers a body that is read part by part while it is sent; size is -1 where nobody knows it.
func sending(next func(context.Context) ([]byte, error), size int) func(huma.Context) {
	return func(hc huma.Context) {
		c := humafiber.Unwrap(hc)
		c.Context().SetBodyStream(&parts{next: next, conn: c.Context().Conn(), ctx: context.WithoutCancel(hc.Context())}, size)
	}
}

// parts is a body in the making. The server reads it when the handler has returned.
type parts struct {
	next func(context.Context) ([]byte, error)
	conn net.Conn
	ctx  context.Context //nolint:containedctx // a reader is given none
	left []byte
}

// Read hands on what is left of a part, or asks for the next.
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
		_ = p.conn.SetWriteDeadline(time.Now().Add(partTime)) // it fails where the write will
		p.left = data
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}
