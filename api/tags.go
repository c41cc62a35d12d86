package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/definitions"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
)

const tagsPath = "/api/v1/crm/tags"

func (a *App) mountTags() {
	const tag, one = "Tags", tagsPath + "/{tag}"
	writes := []string{contactbulk.Kind.Name()}
	a.Fiber.Use(tagsPath+"/", namedTag)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "tags.list",
			Method: http.MethodGet, Path: tagsPath, Need: httpx.Viewer, Tag: tag,
			Title: "List the tags of contacts, by name",
		}, a.listTags)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "tags.rename",
			Method: http.MethodPatch, Path: one, Need: httpx.Member, Tag: tag,
			Title:  "Rename a tag; renaming it to an existing tag merges the two",
			Status: http.StatusAccepted, Writes: writes,
		},
		a.renameTag)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "tags.remove",
			Method: http.MethodDelete, Path: one, Need: httpx.Member, Tag: tag, Title: "Remove a tag from all contacts",
			Status: http.StatusAccepted, Writes: writes,
		}, a.deleteTag)
}

// namedTag takes the tag from the raw path. The router decodes the path before it splits it at slashes, and reads a
// plus as a blank, but a tag may contain both. namedTag therefore encodes the path once more for the router, and the
// handler reads the tag from the request.
func namedTag(c *fiber.Ctx) error {
	sent, _, _ := strings.Cut(string(c.Request().URI().PathOriginal()), "?")
	name, ok := strings.CutPrefix(sent, tagsPath+"/")
	if !ok || strings.Contains(name, "/") {
		return c.Next()
	}

	tag, err := url.PathUnescape(name)
	if err != nil || !httpx.CleanText(tag) {
		return c.Next()
	}

	httpx.RequestOf(c.UserContext()).Tag = tag
	c.Path(tagsPath + "/" + url.PathEscape(url.PathEscape(tag)))
	return c.Next()
}

// TagName is the path parameter of one tag.
type TagName struct {
	Tag string `path:"tag" doc:"The tag, percent-encoded"`
}

type tagList struct {
	Body httpx.List[contacts.TagUse]
}

func (a *App) listTags(ctx context.Context, in *httpx.PageInput) (*tagList, error) {
	from, err := httpx.After[string](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	begin := ""
	if from != nil {
		begin = *from
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*tagList, error) {
		rows, err := contacts.Tags(ctx, tx, begin, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &tagList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, rows, func(t contacts.TagUse) contacts.TagUse {
			return t
		}, func(t contacts.TagUse) string { return t.Name })
		if err == nil {
			err = in.Add(ctx, tx, &out.Body.Total, contacts.CountTags)
		}

		return out, err
	})
}

func (a *App) renameTag(ctx context.Context, in *struct {
	TagName
	Body struct {
		Name string `json:"name" doc:"1 to 64 characters, no comma"`
	} `nameHint:"RenameTagRequest"`
},
) (*bulkStarted, error) {
	name, err := contacts.Keys([]string{in.Body.Name}, "name", 1)
	if err != nil {
		return nil, replacePointers(err, "name/0", "name")
	}
	return a.startRetagging(ctx, bulk.Action{Type: bulk.RenameTag, To: name[0]},
		func(tx *postgres.Tx, action *bulk.Action) (err error) {
			if action.Tag == action.To {
				return fault.Invalid("name", "unchanged", "This is the tag's name.")
			}
			if action.To, err = contacts.RenameTag(ctx, tx, action.Tag, action.To); err != nil {
				return err
			}
			return definitions.Rename(ctx, tx, definitions.Name{Kind: definitions.Tag, Name: action.Tag}, action.To)
		})
}

func (a *App) deleteTag(ctx context.Context, _ *TagName) (*bulkStarted, error) {
	return a.startRetagging(ctx, bulk.Action{Type: bulk.DeleteTag}, func(tx *postgres.Tx, action *bulk.Action) error {
		return definitions.CheckUnused(ctx, tx, definitions.Name{Kind: definitions.Tag, Name: action.Tag})
	})
}

// startRetagging starts a bulk change of all contacts, live or archived, that have the request's tag. prepare completes
// the action, which has the tag's name, in the same transaction.
func (a *App) startRetagging(ctx context.Context, action bulk.Action,
	prepare func(tx *postgres.Tx, action *bulk.Action) error,
) (*bulkStarted, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (_ *bulkStarted, err error) {
		if action.Tag, err = contacts.TagNamed(ctx, tx, httpx.RequestOf(ctx).Tag); err != nil {
			return nil, err
		}
		if err := prepare(tx, &action); err != nil {
			return nil, err
		}
		return startBulk(ctx, tx, action, nil, false)
	})
}
