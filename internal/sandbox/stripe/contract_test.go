package stripe_test

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"
)

// mockVersion is the last stripe-mock with fixtures of the API version that stripe-go v76 uses.
const mockVersion = "v0.183.0"

// fewer lists the keys of the fixtures that the sandbox omits, with the reason.
var fewer = map[string]string{
	"upcoming.id":                 "a preview has no id, as stripe-go says",
	"customer search.total_count": "it comes when it is expanded",
}

// beyond lists the keys of the API description that stripe-go does not have.
var beyond = []string{"generated_from"}

// TestTheSandboxTakesAndAnswersWhatTheAPIDescribes makes each call of the table twice: to the sandbox, and to
// stripe-mock, which implements the API's description. Stripe-mock must accept every request, and every key of its
// response must be in the sandbox's, with the same type. Every key of the sandbox's response must have a field in
// stripe-go's type.
func TestTheSandboxTakesAndAnswersWhatTheAPIDescribes(t *testing.T) {
	t.Parallel()
	url := startMock(t)
	mock := clientOf(http.DefaultTransport, url)
	w := newWorld(t)
	ids := map[string]string{}
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			ours, err := c.do(w.sc, ids)
			if err != nil {
				t.Fatalf("sandbox: %v", err)
			}
			if c.keep != "" {
				ids[c.keep] = idOf(t, ours)
			}
			theirs, err := c.do(mock, ids)
			if err != nil {
				t.Fatalf("stripe-mock: %v", err)
			}
			got, want := raw(t, ours), raw(t, theirs)
			compare(t, c.name, want, got)
			known(t, c.name, got, reflect.TypeOf(ours))
			if c.after != nil {
				c.after(t, w, ids)
			}
		})
	}
}

func raw(t *testing.T, v any) any {
	t.Helper()
	res := reflect.ValueOf(v).Elem().FieldByName("LastResponse").Interface().(*api.APIResponse)
	var out any
	if err := json.Unmarshal(res.RawJSON, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func idOf(t *testing.T, v any) string {
	t.Helper()
	f := reflect.ValueOf(v).Elem().FieldByName("ID")
	if !f.IsValid() || f.String() == "" {
		t.Fatal("the answer has no id")
	}
	return f.String()
}

// compare requires every key of want in got, with a value of the same type unless either is null.
func compare(t *testing.T, at string, want, got any) {
	t.Helper()
	if strings.HasSuffix(at, ".data.object") {
		return // an event may hold any object
	}
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return // a reference instead of an expanded object, or null
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			value, there := got[key]
			if !there {
				if fewer[at+"."+key] == "" && !strings.HasSuffix(at, ".metadata") {
					t.Errorf("%s.%s is missing", at, key)
				}
				continue
			}
			if w := want[key]; w != nil && value != nil && reflect.TypeOf(w) != reflect.TypeOf(value) {
				t.Errorf("%s.%s is a %T, want a %T", at, key, value, w)
			}
			compare(t, at+"."+key, want[key], value)
		}
	case []any:
		if got, ok := got.([]any); ok && len(want) > 0 && len(got) > 0 {
			compare(t, at+"[0]", want[0], got[0])
		}
	}
}

// known requires a field of a stripe-go type for every key of v.
func known(t *testing.T, at string, v any, in reflect.Type) {
	t.Helper()
	for in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		if in.Kind() != reflect.Struct {
			return // a map accepts any key
		}
		fields := map[string]reflect.Type{"object": reflect.TypeFor[string]()}
		collect(in, fields)
		for key, value := range v {
			f, ok := fields[key]
			if !ok {
				if !slices.Contains(beyond, key) {
					t.Errorf("%s.%s has no place in %s", at, key, in)
				}
				continue
			}
			known(t, at+"."+key, value, f)
		}
	case []any:
		if in.Kind() == reflect.Slice && len(v) > 0 {
			known(t, at+"[0]", v[0], in.Elem())
		}
	}
}

func collect(in reflect.Type, fields map[string]reflect.Type) {
	for f := range in.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			collect(f.Type, fields)
		case name != "" && name != "-":
			fields[name] = f.Type
		}
	}
}

// startMock starts stripe-mock and returns its URL. It sets both addresses, since the default of the other is public.
func startMock(t *testing.T) string {
	t.Helper()
	binary, err := findMock(t)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("stripe-mock %s: %v", mockVersion, err)
		}
		t.Skipf("SKIPPED FOR WANT OF STRIPE-MOCK %s: %v", mockVersion, err)
	}
	for range 5 { // another process may take a port in between
		http, https := freeAddr(t), freeAddr(t)
		cmd := exec.Command(binary, "-http-addr", http, "-https-addr", https, "-strict-version-check")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(ended)
		}()
		stop := func() {
			_ = cmd.Process.Kill()
			<-ended
		}
		if answers(t.Context(), http, ended) {
			t.Cleanup(stop)
			return "http://" + http
		}
		stop()
	}
	t.Fatal("stripe-mock does not start")
	return ""
}

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

func answers(ctx context.Context, addr string, ended <-chan struct{}) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 400 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return true
		}
		select {
		case <-ended:
			return false
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return false
}

// findMock returns the stripe-mock in PATH if its version matches, and otherwise builds it with Go.
func findMock(t *testing.T) (string, error) {
	if path, err := exec.LookPath("stripe-mock"); err == nil && isMock(path) {
		return path, nil
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "install", "github.com/stripe/stripe-mock@"+mockVersion)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "stripe-mock"), nil
}

func isMock(path string) bool {
	info, err := buildinfo.ReadFile(path)
	return err == nil && info.Main.Path == "github.com/stripe/stripe-mock" && info.Main.Version == mockVersion
}

// apiCall is one request as our billing makes it. keep names the id of its response for later calls.
type apiCall struct {
	name, keep string
	do         func(sc *client.API, id map[string]string) (any, error)
	after      func(t *testing.T, w *world, id map[string]string)
}
