package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
)

func TestWhomTheOperatorAddsIsInTheOrgsLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	n := api.SeedUser{Email: "ada@example.com", Password: goodPassword, Org: boss.Org, Role: auth.Viewer}
	for _, want := range []bool{true, false} {
		if got, err := api.Admit(t.Context(), s.Deps.Auth, n); err != nil || got != want {
			t.Fatalf("admitted %v, %v; want %v", got, err, want)
		}
	}
	var log struct {
		Total int
		Data  []struct {
			Action string
			Actor  struct{ Type string }
			Detail map[string]string
		}
	}
	boss.do(http.MethodGet, "/api/v1/audit-log?count=exact", nil).want(t, 200, "").into(t, &log)
	if log.Total != 1 || len(log.Data) != 1 {
		t.Fatalf("%d entries of %d, want 1 of 1", len(log.Data), log.Total)
	}
	if added := log.Data[0]; added.Action != "member.added" || added.Actor.Type != "system" {
		t.Fatalf("%s by %s, want member.added by system", added.Action, added.Actor.Type)
	}
	if diff := cmp.Diff(map[string]string{"email": "ada@example.com", "role": "viewer"},
		log.Data[0].Detail); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyTheRightAnswerMakesAProcessReady(t *testing.T) {
	t.Parallel()
	asked := 0
	ctx, stop := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch asked++; asked {
		case 1:
			w.WriteHeader(http.StatusBadRequest)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3: // ready
		default:
			stop()
		}
	}))
	t.Cleanup(srv.Close)
	if err := api.Answers(ctx, srv.URL); err != nil || asked != 3 {
		t.Errorf("%v after %d questions, want none after 3", err, asked)
	}
	if err := api.Answers(ctx, srv.URL); err == nil {
		t.Error("a process that is ending says that it is ready")
	}
}
