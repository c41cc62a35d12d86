package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const sendingDomainsPath = sendingPath + "/domains"

func (a *App) mountSendingDomains() {
	const one = sendingDomainsPath + "/{domain}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "sending_domains.create",
		Method: http.MethodPost, Path: sendingDomainsPath, Need: httpx.Admin, Tag: sendingTag,
		Title: "Add a sending domain", Status: http.StatusCreated, Also: []int{http.StatusOK},
	}, a.addSendingDomain)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sending_domains.verify",
		Method: http.MethodPost, Path: one + "/verify", Need: httpx.Admin, Tag: sendingTag,
		Title: "Look up a sending domain's DNS records now",
	}, a.verifySendingDomain)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sending_domains.rotate",
		Method: http.MethodPost, Path: one + "/rotate", Need: httpx.Admin, Tag: sendingTag,
		Title: "Make a new key for a sending domain",
	}, a.rotateSendingDomain)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sending_domains.remove",
		Method: http.MethodDelete, Path: one, Need: httpx.Admin, Tag: sendingTag, Title: "Remove a sending domain",
		Status: http.StatusNoContent,
	}, a.removeSendingDomain)
}

// sendingDomains returns the service of sending domains.
func (a *App) sendingDomains() *orgsending.Domains {
	return &orgsending.Domains{Box: a.Box, Texts: a.Domains.Texts}
}

// SendingDomainName is the path parameter of one sending domain.
type SendingDomainName struct {
	Domain string `path:"domain" maxLength:"253" doc:"The domain, as the API shows it"`
}

type sendingDomainOut struct {
	Status int
	Body   orgsending.SendingDomain
}

func showSendingDomain(d *orgsending.Domain) *sendingDomainOut {
	return &sendingDomainOut{http.StatusOK, d.Shown()}
}

type addSendingDomainIn struct {
	Body struct {
		Domain string `json:"domain" maxLength:"300" doc:"Domain of the addresses that mail comes from"`
	}
}

func (a *App) addSendingDomain(ctx context.Context, in *addSendingDomainIn) (*sendingDomainOut, error) {
	name, err := a.Domains.Host(in.Body.Domain)
	if err != nil {
		return nil, err
	}
	if err := a.mayAskDNS(ctx); err != nil {
		return nil, err
	}

	key, err := orgsending.MakeKey()
	if err != nil {
		return nil, err
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sendingDomainOut, error) {
		d, added, err := a.sendingDomains().Add(ctx, tx, name, key)
		if err != nil {
			return nil, err
		}
		if !added {
			return showSendingDomain(d), nil
		}

		auditSendingDomain(ctx, tx, "sending_domain.added", d)
		out := showSendingDomain(d)
		out.Status = http.StatusCreated
		return out, nil
	})
}

func (a *App) findSendingDomain(ctx context.Context, name string) (d *orgsending.Domain, err error) {
	err = a.DB.ReadTx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		d, err = orgsending.FindDomain(ctx, tx, name)
		return err
	})
	return d, err
}

// verifySendingDomain looks up the records while the caller waits, for at most seven seconds. A job repeats the
// look-ups that failed.
func (a *App) verifySendingDomain(ctx context.Context, in *SendingDomainName) (*sendingDomainOut, error) {
	if err := a.mayAskDNS(ctx); err != nil {
		return nil, err
	}
	if out, err := findStoredResponse[sendingDomainOut](ctx, a); out != nil || err != nil {
		return out, err
	}

	d, err := a.findSendingDomain(ctx, in.Domain)
	if err != nil {
		return nil, err
	}

	check := a.sendingDomains().Check(ctx, d)

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sendingDomainOut, error) {
		change, err := a.sendingDomains().Apply(ctx, tx, d.ID, check)
		if err != nil {
			return nil, err
		}
		if change.Status != change.Was {
			auditSendingDomain(ctx, tx, "sending_domain."+change.Status, change.Domain)
		}
		return showSendingDomain(change.Domain), nil
	})
}

// rotateSendingDomain makes the key, which takes a tenth of a second, before the transaction and only for a domain that
// exists.
func (a *App) rotateSendingDomain(ctx context.Context, in *SendingDomainName) (*sendingDomainOut, error) {
	if err := a.mayAskDNS(ctx); err != nil {
		return nil, err
	}
	if out, err := findStoredResponse[sendingDomainOut](ctx, a); out != nil || err != nil {
		return out, err
	}
	if _, err := a.findSendingDomain(ctx, in.Domain); err != nil {
		return nil, err
	}

	key, err := orgsending.MakeKey()
	if err != nil {
		return nil, err
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sendingDomainOut, error) {
		d, added, err := a.sendingDomains().Rotate(ctx, tx, in.Domain, key)
		if err != nil {
			return nil, err
		}
		if added {
			auditSendingDomain(ctx, tx, "sending_domain.rotated", d)
		}
		return showSendingDomain(d), nil
	})
}

func (a *App) removeSendingDomain(ctx context.Context, in *SendingDomainName) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		d, err := orgsending.Remove(ctx, tx, in.Domain)
		if err == nil {
			auditSendingDomain(ctx, tx, "sending_domain.removed", d)
		}
		return &struct{}{}, err
	})
}

// auditSendingDomain writes an audit log entry for a sending domain, whose key signs in the org's name.
func auditSendingDomain(ctx context.Context, tx *postgres.Tx, action string, d *orgsending.Domain) {
	org.Audit(ctx, tx, org.Entry{
		Action: action, Target: "sending_domain", ID: d.ID.String(), Detail: map[string]any{"domain": d.Name},
	})
}
