package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// Redis is shown in a dashboard, copied to replicas and dumped by operators. It may hold ids, counts and error texts
// only. The test records every command that Redis receives and also reads its contents: after the requests, before any
// worker runs; and after everything that can fail has failed and its errors are listed.
func TestNoSecretAndNoAddressEverReachesRedis(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	tapped := tap(t, server.URL)
	var secrets []string
	secret := func(s string) string {
		secrets = append(secrets, s)
		return s
	}

	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent/path-token-8472" { // an invalid response in the middle of a call
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write(body)
	}))
	t.Cleanup(receiver.Close)
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+server.URL,
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_LOG_LEVEL=warn",
		"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_SANDBOXES=oauth",
		"FUNNELWORK_SMTP_URL=smtp://"+refusingMail(t), "FUNNELWORK_ADDR="+ports[0])
	inBackground(t, append(env, "FUNNELWORK_OPS_ADDR="+ports[1]), "api")
	inBackground(t, append(env, "FUNNELWORK_OPS_ADDR="+ports[2]), "scheduler")
	public := "http://" + ports[0]
	until(t, "the API is ready", func() bool {
		status, _ := ask(t, "GET", "http://"+ports[1]+"/readyz", "", "")
		return status == 200
	})

	must := func(want int, method, path, token, body string) (v map[string]any) {
		t.Helper()
		status, answer := ask(t, method, public+path, token, body)
		if status != want {
			t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, answer)
		}
		_ = json.Unmarshal([]byte(answer), &v)
		return v
	}
	owner, password := secret("owner-9321@example.com"), secret("owner-password-5512")
	must(201, "POST", "/api/v1/auth/signup", "",
		fmt.Sprintf(`{"org_name":"Engines","email":%q,"password":%q}`, owner, password))
	must(401, "POST", "/api/v1/auth/login", "",
		fmt.Sprintf(`{"email":%q,"password":%q}`, owner, secret("wrong-password-7781")))
	session := must(200, "POST", "/api/v1/auth/login", "", fmt.Sprintf(`{"email":%q,"password":%q}`, owner, password))
	secret(session["refresh_token"].(string))
	session = must(200, "POST", "/api/v1/auth/refresh", "", `{"refresh_token":"`+session["refresh_token"].(string)+`"}`)
	secret(session["refresh_token"].(string))
	token := secret(session["access_token"].(string))
	must(202, "POST", "/api/v1/auth/forgot-password", "", fmt.Sprintf(`{"email":%q}`, owner))
	must(201, "POST", "/api/v1/members", token,
		fmt.Sprintf(`{"email":%q,"role":"member"}`, secret("invited-3117@example.com")))
	key := secret(must(201, "POST", "/api/v1/api-keys", token, `{"name":"k","role":"member"}`)["key"].(string))
	chosen := secret("chosen-webhook-secret-0042")
	for _, path := range []string{"/failing/path-token-8472", "/silent/path-token-8472"} {
		hook := must(201, "POST", "/api/v1/webhooks", token,
			fmt.Sprintf(`{"url":%q,"events":["*"],"secret":%q}`, receiver.URL+path, chosen))
		rotated := must(200, "POST", "/api/v1/webhooks/"+hook["id"].(string)+"/rotate-secret", token, `{}`)
		secret(rotated["secret"].(string))
	}
	secret("path-token-8472")
	gone := "http://127.0.0.1:1/" + secret("path-token-6650")
	must(201, "POST", "/api/v1/webhooks", token, fmt.Sprintf(`{"url":%q,"events":["contact.created"]}`, gone))
	grace := must(201, "POST", "/api/v1/crm/contacts", key,
		fmt.Sprintf(`{"email":%q,"first_name":%q,"last_name":%q,"phone":%q}`,
			secret("grace-6120@example.org"), secret("Gracefirst"), secret("Hopperlast"), secret("+4915112345678")))
	must(200, "PATCH", "/api/v1/crm/contacts/"+grace["id"].(string), key, `{"stage":"customer"}`)
	must(200, "POST", "/api/v1/crm/contacts/batch", key,
		fmt.Sprintf(`{"contacts":[{"email":%q,"first_name":"A","last_name":"B"}]}`, secret("batch-8204@example.org")))
	secrets = append(secrets, oauth.TokenMark, oauth.CodeMark)
	for _, platform := range []string{"social/facebook", "social/x", "social/tiktok", "ads/x_ads"} {
		ends := fmt.Sprintf(`{"redirect_url":%q}`, public+"/done")
		begun := must(200, "POST", "/api/v1/"+platform+"/connect", token, ends)
		secret(begun["state"].(string))
		pending := giveConsent(t, begun["authorize_url"].(string))
		offered := must(200, "GET", "/api/v1/social/pending/"+pending, token, "")["accounts"].([]any)
		chosen := offered[0].(map[string]any)["external_account_id"].(string)
		must(200, "POST", "/api/v1/social/pending/"+pending+"/select", token,
			fmt.Sprintf(`{"account_ids":[%q]}`, chosen))
	}
	account := must(200, "GET", "/api/v1/social/accounts", token, "")["data"].([]any)[0].(map[string]any)
	must(204, "DELETE", "/api/v1/social/accounts/"+account["id"].(string), token, "")

	cli, err := redisx.Open(server.URL, redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	kinds := map[string]bool{}
	until(t, "a job of each sort waits", func() bool {
		for _, v := range contents(t, cli) {
			if m := taskMessage.FindStringSubmatch(v); m != nil {
				kinds[m[1]] = true
			}
		}
		// One of the scheduler's jobs is enough: the relay enqueues what Redis was too slow for, and no worker runs
		// yet.
		return kinds["lead.score"] && kinds["mail.system"] && kinds["webhook.deliver"] &&
			(kinds["platform.retain"] || kinds["token.sweep"] || kinds["plan.sweep"])
	}, func() string { return fmt.Sprint(kinds) })
	for _, v := range contents(t, cli) {
		if strings.Contains(v, "state pending") && !taskMessage.MatchString(v) {
			t.Errorf("a task bears more than the ids of its job and its org: %q", v)
		}
	}
	scan(t, "with all jobs waiting", secrets, contents(t, cli))

	inBackground(t, append(env, "FUNNELWORK_OPS_ADDR="+ports[3]), "worker")
	retries := func() (n int) {
		for _, lane := range []string{"critical", "default", "webhooks", "remote", "bulk"} {
			n += int(cli.ZCard(t.Context(), asynqx.Key(lane, asynqx.Retry)).Val())
		}
		return n
	}
	// Two mails, and three failing endpoints: two of them receive all contacts and more.
	until(t, "what can fail has failed", func() bool { return retries() >= 6 }, func() string {
		return fmt.Sprintf("%d retries", retries())
	})
	scan(t, "with errors listed", secrets, contents(t, cli))
	scan(t, "on its way to Redis", secrets, tapped())
	t.Logf("%d keys, %d commands; kinds %v", len(contents(t, cli)), len(tapped()), kinds)
}

// giveConsent lets a user agree at the provider, and returns the pending connection of the callback.
func giveConsent(t *testing.T, authorize string) (pending string) {
	t.Helper()
	back, err := consent.Give(t.Context(), http.DefaultClient, authorize, consent.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	still := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := still.Get(back.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	to, err := got.Location()
	if err != nil || to.Query().Get("status") != "pending" {
		t.Fatalf("the callback answers %s, %v, %v", got.Status, to, err)
	}
	return to.Query().Get("pending_id")
}

// taskMessage matches a task as stored by asynq: its kind, and a payload of two ids.
var taskMessage = regexp.MustCompile(`(?s)\n.([a-z]+\.[a-z_.]+)\x12.\{"id":"[0-9a-f-]{36}","org":"[0-9a-f-]{36}"\}\x1a`)

// scan searches for secrets in plain text and in base64.
func scan(t *testing.T, where string, secrets, texts []string) {
	t.Helper()
	if len(texts) < 10 {
		t.Fatalf("%s: only %d texts: nothing is shown", where, len(texts))
	}
	for _, s := range secrets {
		for _, form := range []string{
			s, base64.StdEncoding.EncodeToString([]byte(s)),
			base64.RawURLEncoding.EncodeToString([]byte(s)),
		} {
			if i := slices.IndexFunc(texts, func(text string) bool { return strings.Contains(text, form) }); i >= 0 {
				t.Errorf("%s: %s is in %q", where, s, texts[i])
			}
		}
	}
}

// contents returns all keys with their values.
func contents(t *testing.T, cli redis.UniversalClient) (all []string) {
	t.Helper()
	ctx := t.Context()
	keys, err := cli.Keys(ctx, "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		var v any
		switch kind := cli.Type(ctx, key).Val(); kind {
		case "string":
			v = cli.Get(ctx, key).Val()
		case "hash":
			m := cli.HGetAll(ctx, key).Val()
			parts := []string{}
			for name, value := range m {
				parts = append(parts, name+" "+value)
			}
			v = strings.Join(parts, " | ")
		case "list":
			v = cli.LRange(ctx, key, 0, -1).Val()
		case "set":
			v = cli.SMembers(ctx, key).Val()
		case "zset":
			v = cli.ZRangeWithScores(ctx, key, 0, -1).Val()
		case "none": // deleted meanwhile
		default:
			t.Errorf("%s is a %s, which nobody reads", key, kind)
		}
		all = append(all, fmt.Sprintf("%s = %v", key, v))
	}
	return all
}

// tap records every command that a Redis receives. The returned function returns those recorded so far.
func tap(t *testing.T, address string) func() []string {
	t.Helper()
	opt, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial(opt.Network, opt.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ask := "MONITOR\r\n"
	if opt.Password != "" {
		ask = "AUTH " + opt.Password + "\r\n" + ask
	}
	if _, err := io.WriteString(conn, ask); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var heard []string
	go func() { // ends with the connection
		lines := bufio.NewReaderSize(conn, 1<<20)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			mu.Lock()
			heard = append(heard, line)
			mu.Unlock()
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(heard)
	}
}

// refusingMail starts a mail server that temporarily rejects every recipient and repeats the address in its reply.
func refusingMail(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var serving sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		_ = ln.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			serving.Go(func() {
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(time.Minute))
				_, _ = io.WriteString(conn, "220 mail.example.com ESMTP\r\n")
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					verb, rest, _ := bytes.Cut(lines.Bytes(), []byte(" "))
					answer := "250 fine"
					switch strings.ToUpper(string(verb)) {
					case "RCPT":
						answer = "451 4.7.1 " + string(rest) + ": try again later"
					case "QUIT":
						answer = "221 bye"
					}
					_, _ = io.WriteString(conn, answer+"\r\n")
				}
			})
		}
	})
	return ln.Addr().String()
}
