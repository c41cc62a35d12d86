package provider

import (
	"context"
	"slices"
	"strings"
)

// Missing returns those of the needed scopes that are not among the granted ones. Providers grant what a person leaves
// checked: Google's and Meta's consent pages let them refuse single scopes. Where no scope is known, none is missing.
func (s *Spec) Missing(granted []string) []string {
	if len(granted) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, g := range granted {
		names[scopeName(g)] = true
	}
	return slices.DeleteFunc(slices.Clone(s.Needed), func(n string) bool { return names[scopeName(n)] })
}

// MissingScopes returns the needed scopes of a platform that are not among the granted ones, see Spec.Missing. It
// returns none for an unknown platform.
func MissingScopes(platform string, granted []string) []string {
	for _, s := range Catalogue() {
		if s.Platform == platform {
			return s.Missing(granted)
		}
	}
	return nil
}

// scopeName returns what a scope is compared by: Microsoft answers with other cases than it was asked with, and both
// Google and Microsoft may leave out the address in front.
func scopeName(scope string) string {
	scope = strings.ToLower(strings.TrimSuffix(scope, "/"))
	return scope[strings.LastIndexByte(scope, '/')+1:]
}

// graphPermissions returns the permissions that a login at Meta has, which its token response does not name. It returns
// none if Meta does not say.
//
// Source: https://developers.facebook.com/docs/graph-api/reference/user/permissions
func graphPermissions(ctx context.Context, p *Provider, t Token) []string {
	type permission struct {
		Name   string `json:"permission"`
		Status string `json:"status"` // granted, declined or expired
	}
	var said graphPage[permission]
	if err := p.Get(ctx, t, graph+"/me/permissions", p.proof(t, nil), nil, &said); err != nil {
		return nil
	}

	var granted []string
	for _, one := range said.Data {
		if one.Status == "granted" {
			granted = append(granted, one.Name)
		}
	}

	return granted
}
