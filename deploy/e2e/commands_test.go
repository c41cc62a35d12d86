package e2e_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// patience is a script's timeout for other processes.
const patience = 3 * time.Minute

var commands = map[string]func(*testscript.TestScript, bool, []string){
	"start": start, "halt": halt, "call": call, "keep": keep, "arrived": arrived, "worked": worked, "alone": alone,
	"within": within,
}

type key struct{}

// world is the running processes of one script.
type world struct {
	home    string
	running []*daemon
}

// daemon is a funnelwork process in the background.
type daemon struct {
	cmd    *exec.Cmd
	done   chan error
	ready  time.Duration // from the start to the ready line
	waited bool
}

func (w *world) end() {
	for _, d := range w.running {
		if !d.waited {
			_ = d.cmd.Process.Kill()
			if err := <-d.done; err == nil {
				continue // it has already ended
			}
		}
	}
	deadline := time.Now().Add(patience)
	for len(processesOf(w.home)) > 0 && time.Now().Before(deadline) {
		<-time.After(20 * time.Millisecond)
	}
	pointers, _ := filepath.Glob(filepath.Join(w.home, "*", "*.at"))
	more, _ := filepath.Glob(filepath.Join(w.home, "*", "*", "*.at"))
	for _, p := range append(pointers, more...) {
		if at, err := os.ReadFile(p); err == nil {
			_ = os.RemoveAll(strings.TrimSpace(string(at)))
		}
	}
	_ = os.RemoveAll(w.home)
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(key{}).(*world) }

// start [-as uid] [-log file] [command args...] runs funnelwork in the background, by default "up", and waits until it
// serves. Its output is in the files "said" and "log" afterwards.
func start(ts *testscript.TestScript, neg bool, args []string) {
	var credential *syscall.Credential
	for len(args) > 1 && args[0] == "-as" {
		uid, err := strconv.ParseUint(args[1], 10, 32)
		ts.Check(err)
		credential, args = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}, args[2:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		args = append([]string{"up"}, args...)
	}
	role := args[0]
	cmd := exec.Command(ts.Getenv("FUNNELWORK"), args...)
	cmd.Dir = worldOf(ts).home
	cmd.Env = []string{
		"PATH=" + ts.Getenv("PATH"), "FUNNELWORK_HOME=" + ts.Getenv("H"),
		"FUNNELWORK_ADDR=" + ts.Getenv("ADDR"), "FUNNELWORK_OPS_ADDR=" + ts.Getenv("OPS"),
	}
	for _, name := range []string{"DATABASE_URL", "REDIS_URL", "FUNNELWORK_KEYSET", "FUNNELWORK_POSTGRES_REPOSITORY"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	said, err := os.Create(ts.MkAbs("said"))
	ts.Check(err)
	log, err := os.OpenFile(ts.MkAbs("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = said, log
	begin := time.Now()
	ts.Check(cmd.Start())
	d := &daemon{cmd: cmd, done: make(chan error, 1)}
	go func() {
		err := cmd.Wait()
		_, _ = said.Close(), log.Close()
		d.done <- err
	}()
	w := worldOf(ts)
	w.running = append(w.running, d)
	up := func() bool {
		if role == "up" {
			b, _ := os.ReadFile(ts.MkAbs("said"))
			return bytes.HasPrefix(b, []byte("ready: ")) && bytes.Contains(b, []byte("\n"))
		}
		return statusOf(ts.Getenv("OPSURL")+"/readyz") == http.StatusOK
	}
	for !up() {
		select {
		case err := <-d.done:
			d.waited = true
			b, _ := os.ReadFile(ts.MkAbs("log"))
			ts.Fatalf("%s ended before it served: %v\n%s", role, err, b)
		case <-time.After(5 * time.Millisecond):
			if time.Since(begin) > 2*patience {
				ts.Fatalf("%s does not serve", role)
			}
		}
	}
	d.ready = time.Since(begin)
	ts.Logf("%s served after %v", role, d.ready)
	if neg {
		ts.Fatalf("start cannot fail")
	}
}

func statusOf(url string) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// halt SIGNAL sends the newest process a signal and waits for its end. It must exit with 0, except after KILL.
func halt(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	d := w.running[len(w.running)-1]
	signal := map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "INT": syscall.SIGINT,
		"KILL": syscall.SIGKILL,
	}[args[0]]
	ts.Check(d.cmd.Process.Signal(signal))
	select {
	case err := <-d.done:
		d.waited = true
		if (err == nil) == (signal == syscall.SIGKILL) {
			b, _ := os.ReadFile(ts.MkAbs("log"))
			ts.Fatalf("ended with %v\n%s", err, b)
		}
	case <-time.After(2 * patience):
		ts.Fatalf("does not end")
	}
}

// within DURATION checks the start-up time of the newest process: exactly with -strict, on an otherwise idle machine,
// else ten times the duration.
func within(ts *testscript.TestScript, _ bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	w := worldOf(ts)
	if !*strict {
		limit *= 10
	}
	if took := w.running[len(w.running)-1].ready; took > limit {
		ts.Fatalf("served after %v, want at most %v", took, limit)
	}
}

// call STATUS METHOD URL [body] makes a request, with $TOKEN if it is set, and prints the response's body.
func call(ts *testscript.TestScript, _ bool, args []string) {
	body := ""
	if len(args) > 3 {
		body = args[3]
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	status, answer := http.StatusServiceUnavailable, []byte(nil)
	// 503 asks for a retry: on a busy machine a check may be slow
	for status == http.StatusServiceUnavailable {
		req, err := http.NewRequestWithContext(ctx, args[1], args[2], strings.NewReader(body))
		ts.Check(err)
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		if token := ts.Getenv("TOKEN"); token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(req)
		ts.Check(err)
		answer, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
		ts.Check(err)
		if status = res.StatusCode; args[1] != http.MethodGet || want == status {
			break
		}
	}
	_, _ = ts.Stdout().Write(answer)
	if status != want {
		ts.Fatalf("%s %s: %d, want %d: %s", args[1], args[2], status, want, answer)
	}
}

// keep NAME MEMBER sets a variable to a member of the last response.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	var m map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &m))
	v, ok := m[args[1]]
	if !ok {
		ts.Fatalf("the answer has no %s", args[1])
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}

// arrived TYPE SECRET waits until the sandbox inbox has an event of that type, and verifies both its signatures as a
// receiver would.
func arrived(ts *testscript.TestScript, _ bool, args []string) {
	var inbox struct {
		Data []struct {
			Headers           map[string]string
			Body              string
			EventType         string `json:"event_type"`
			Signature         string
			StandardSignature string `json:"standard_signature"`
		}
	}
	for begin := time.Now(); ; <-time.After(20 * time.Millisecond) {
		ts.Check(fetch(ts.Getenv("OPSURL")+"/sandbox/inbox/?format=json", &inbox))
		for _, a := range inbox.Data {
			if a.EventType != args[0] {
				continue
			}
			header := http.Header{}
			for k, v := range a.Headers {
				header.Set(k, v)
			}
			ts.Check(verify(args[1], header, []byte(a.Body)))
			if a.Signature != "valid" || a.StandardSignature != "valid" {
				ts.Fatalf("the inbox says of the signatures: %s, %s", a.Signature, a.StandardSignature)
			}
			_, _ = io.WriteString(ts.Stdout(), a.Body)
			ts.Logf("arrived after %v", time.Since(begin))
			return
		}
		if time.Since(begin) > patience {
			ts.Fatalf("no %s arrived; the inbox has %d others", args[0], len(inbox.Data))
		}
	}
}

// verify verifies X-Service-Signature with the three lines in the product's documentation, and the Standard Webhooks
// headers with that standard's library.
func verify(secret string, header http.Header, body []byte) error {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	if want := hex.EncodeToString(mac.Sum(nil)); !hmac.Equal([]byte(want), []byte(header.Get("X-Service-Signature"))) {
		return errors.New("X-Service-Signature is wrong")
	}
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return wh.Verify(body, header)
}

// worked QUEUE waits until the job dashboard counts a processed job in that queue.
func worked(ts *testscript.TestScript, _ bool, args []string) {
	var list struct {
		Queues []struct {
			Queue     string
			Processed int
			Failed    int
		}
	}
	for begin := time.Now(); ; <-time.After(20 * time.Millisecond) {
		ts.Check(fetch(ts.Getenv("OPSURL")+"/queues/api/queues", &list))
		for _, q := range list.Queues {
			if q.Queue == args[0] && q.Processed > 0 {
				return
			}
		}
		if time.Since(begin) > patience {
			ts.Fatalf("no job of queue %s was processed: %+v", args[0], list)
		}
	}
}

func fetch(url string, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, res.Status)
	}
	return json.NewDecoder(res.Body).Decode(into)
}

// alone waits until no process is left that works below the script's directory.
func alone(ts *testscript.TestScript, _ bool, _ []string) {
	dir := worldOf(ts).home
	dirs := []string{dir}
	pointers, _ := filepath.Glob(filepath.Join(ts.Getenv("H"), "*.at"))
	for _, p := range pointers {
		at, err := os.ReadFile(p)
		ts.Check(err)
		dirs = append(dirs, strings.TrimSpace(string(at)))
	}
	for _, d := range dirs {
		for begin := time.Now(); len(processesOf(d)) > 0; <-time.After(20 * time.Millisecond) {
			if time.Since(begin) > patience {
				ts.Fatalf("left behind: %s", strings.Join(processesOf(d), "\n"))
			}
		}
	}
}
