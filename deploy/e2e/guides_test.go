package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The addresses and the login that the README and the guides name.
const (
	shownAPI      = "127.0.0.1:8080"
	shownOps      = "127.0.0.1:9090"
	shownEmail    = "demo@example.com"
	shownPassword = "KA537XRUNVWBPZ3G"
)

// notRun is the number of blocks per guide that are checked and not run: they need keys of other services, start a
// process that serves, or name a job that does not exist.
var notRun = map[string]int{"accounts": 1, "billing": 1, "parts": 3, "queue": 1}

// TestEveryBlockOfTheGuidesRunsAsPasted pastes the code blocks of the README's quick start and of each guide into a
// bash, in order, next to a running up. What a guide shows has to be printed. Each guide has an organization of its
// own.
func TestEveryBlockOfTheGuidesRunsAsPasted(t *testing.T) {
	t.Parallel()
	up := startUp(t)
	readme, err := os.ReadFile(filepath.Join(repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	section, err := quickStart(string(readme))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("quick start", func(t *testing.T) { up.paste(t, shownEmail, "", section) })
	files, err := filepath.Glob(filepath.Join(repository(t), "api", "pages", "docs", "guides", "*.md"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d guides: %v", len(files), err)
	}
	guides := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		guides[strings.TrimSuffix(filepath.Base(file), ".md")] = string(source)
	}
	before, err := parseGuide(guides["index"])
	if err != nil {
		t.Fatal(err)
	}
	var login strings.Builder
	for _, b := range before.blocks {
		if b.info == "sh" {
			login.WriteString(b.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(guides)) {
		t.Run(name, func(t *testing.T) {
			email := name + "@guides.example"
			up.signUp(t, email)
			before := login.String()
			if name == "index" {
				before = ""
			}
			if n := up.paste(t, email, before, guides[name]); n != notRun[name] {
				t.Errorf("%d blocks are checked and not run, want %d", n, notRun[name])
			}
		})
	}
}

// trial is a running up.
type trial struct {
	dir, api, ops, password, program, help string
	paths                                  map[string]bool
}

// startUp starts up in an empty directory, without flags for its home, as a newcomer does.
func startUp(t *testing.T) *trial {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fw-e2e-") //nolint:usetesting // short enough for a socket in it
	if err != nil {
		t.Fatal(err)
	}
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	u := &trial{dir: dir, api: ports[0], ops: ports[1], program: build(t)}
	var printed, logged spoken
	cmd := exec.Command(u.program, "up", "--addr", u.api, "--ops-addr", u.ops)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, bareEnv(), &printed, &logged
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	login := regexp.MustCompile(`(?m)^demo login: \S+ / (\w{16}) `)
	until(t, "up has printed the login", func() bool { return login.MatchString(printed.String()) }, logged.String)
	u.password = login.FindStringSubmatch(printed.String())[1]
	help, err := exec.Command(u.program, "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	u.help = string(help)
	u.paths = operations(t, u.program)
	return u
}

// operations returns the method and path of every operation of the API, without the names of parameters.
func operations(t *testing.T, program string) map[string]bool {
	t.Helper()
	out, err := exec.Command(program, "openapi").Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			all[strings.ToUpper(method)+" "+parameter.ReplaceAllString(path, "{}")] = true
		}
	}
	return all
}

// signUp creates an organization for a guide, with the password of the demo login.
func (u *trial) signUp(t *testing.T, email string) {
	t.Helper()
	body := fmt.Sprintf(`{"email":%q,"password":%q,"org_name":"Guide"}`, email, u.password)
	res, err := http.Post("http://"+u.api+"/api/v1/auth/signup", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", res.Status, answer)
	}
}

// paste runs before and then the guide in a new shell. It returns the number of blocks that were not run.
func (u *trial) paste(t *testing.T, email, before, source string) int {
	t.Helper()
	s, err := newShell(t.Context(), u.dir, filepath.Dir(u.program))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	r := &guideRun{
		shell: s, program: u.program, help: u.help, paths: u.paths, api: "http://" + u.api, patience: patience,
		replace: strings.NewReplacer(shownAPI, u.api, shownOps, u.ops, shownEmail, email, shownPassword, u.password),
	}
	if before != "" {
		if _, err := s.paste(r.replace.Replace(before), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.run(source); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d blocks were run, %d of them compared with what the guide shows", r.ran, r.compared)
	for _, text := range r.checked {
		t.Logf("checked and not run:\n%s", text)
	}
	return len(r.checked)
}

// get returns the body of a response with status 200.
func get(url string) (string, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, res.Status)
	}
	return string(body), err
}
