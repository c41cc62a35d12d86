package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fewestRun is the number of blocks that a guide at least has to run.
const fewestRun = 2

// guideRun pastes the blocks of one guide into a shell.
type guideRun struct {
	shell    *shell
	program  string // the built binary
	help     string // its help, with every setting
	paths    map[string]bool
	api      string            // base URL
	replace  *strings.Replacer // the addresses and the login that the guides name
	patience time.Duration     // how long a block that only reads is repeated
	ran      int
	compared int
	checked  []string // blocks that were not run
}

// run runs every block of the guide, and returns the first error.
func (r *guideRun) run(source string) error {
	d, err := parseGuide(source)
	if err != nil {
		return err
	}
	for i := 0; i < len(d.blocks); i++ {
		b := d.blocks[i]
		b.text = r.replace.Replace(b.text)
		switch b.info {
		case "sh":
			var shown *block
			if i+1 < len(d.blocks) && d.blocks[i+1].isShown() {
				i++
				shown = &d.blocks[i]
				shown.text = r.replace.Replace(shown.text)
			}
			err = r.paste(b, shown)
		case "sh check":
			r.checked = append(r.checked, b.text)
			err = r.check(b)
		case "json filter":
			err = r.filter(b)
		default:
			err = errors.New("nothing above this block prints it")
		}
		if err != nil {
			return fmt.Errorf("line %d: %w\n%s", b.line, err, b.text)
		}
	}
	if r.ran < fewestRun || r.compared == 0 {
		return fmt.Errorf("%d blocks were run and %d compared, which is too few", r.ran, r.compared)
	}
	return r.words(d)
}

// paste runs b, and compares what it prints with what the guide shows. A block that only reads is repeated until it
// prints that.
func (r *guideRun) paste(b block, shown *block) error {
	r.ran++
	if shown == nil {
		_, err := r.shell.paste(b.text, false)
		return err
	}
	r.compared++
	mayRefuse := isProblem(*shown)
	wait := 100 * time.Millisecond
	for deadline := time.Now().Add(r.patience); ; <-time.After(wait) {
		out, err := r.shell.paste(b.text, mayRefuse)
		if err == nil {
			err = compareShown(*shown, out)
		}
		if err == nil || !b.isRead() || time.Now().After(deadline) {
			return err
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// isProblem reports whether a guide shows a response of 400 or above.
func isProblem(b block) bool {
	var p struct{ Status any }
	if b.info != "json" || json.Unmarshal([]byte(b.text), &p) != nil {
		return false
	}
	status, ok := p.Status.(float64)
	return ok && status >= http.StatusBadRequest
}

// filter has the API parse a filter.
func (r *guideRun) filter(b block) error {
	var parsed any
	if err := json.Unmarshal([]byte(b.text), &parsed); err != nil {
		return err
	}
	_, err := r.shell.paste(fmt.Sprintf(`curl -s "$URL/api/v1/crm/contacts?filter=%s" -H "$AUTH"`,
		url.QueryEscape(b.text)), false)
	return err
}

var (
	called  = regexp.MustCompile(`(?m)^\s*funnelwork ([a-z ]*[a-z])(.*)$`)
	flagged = regexp.MustCompile(`--[a-z-]+`)
	setting = regexp.MustCompile(`\b(FUNNELWORK|STRIPE)_[A-Z_]*[A-Z]\b`)
)

// check checks a block that is not run: its syntax, its commands with their flags, and its settings.
func (r *guideRun) check(b block) error {
	file := filepath.Join(r.shell.dir, "checked.sh")
	if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
		return err
	}
	if err := checkSyntax(file); err != nil {
		return err
	}
	for _, c := range called.FindAllStringSubmatch(b.text, -1) {
		out, err := exec.Command(r.program, append(strings.Fields(c[1]), "--help")...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("funnelwork %s: %w: %s", c[1], err, out)
		}
		for _, flag := range flagged.FindAllString(c[2], -1) {
			if !strings.Contains(string(out), flag) {
				return fmt.Errorf("funnelwork %s has no %s", c[1], flag)
			}
		}
	}
	return r.settings(b.text)
}

func (r *guideRun) settings(text string) error {
	for _, name := range setting.FindAllString(text, -1) {
		if !strings.Contains(r.help, "$"+name) {
			return fmt.Errorf("there is no setting %s", name)
		}
	}
	return nil
}

var (
	operation = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (/[^? ]*)`)
	parameter = regexp.MustCompile(`\{[^}]*\}`)
)

// words checks the inline code of a guide, where it names operations and settings, and its links.
func (r *guideRun) words(d document) error {
	for _, span := range d.spans {
		if m := operation.FindStringSubmatch(span); m != nil {
			if !r.paths[m[1]+" "+parameter.ReplaceAllString(m[2], "{}")] {
				return fmt.Errorf("there is no operation %s", span)
			}
		}
		if !strings.HasPrefix(span, "FUNNELWORK_OAUTH_") { // prefixes of settings
			if err := r.settings(span); err != nil {
				return err
			}
		}
	}
	for _, link := range d.links {
		path, fragment, _ := strings.Cut(link, "#")
		if !strings.HasPrefix(path, "/") {
			continue
		}
		page, err := get(r.api + path)
		if err != nil {
			return err
		}
		if fragment != "" && !strings.Contains(page, `id="`+fragment+`"`) {
			return fmt.Errorf("%s: the page has no such section", link)
		}
	}
	return nil
}
