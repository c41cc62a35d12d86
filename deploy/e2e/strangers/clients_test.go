package strangers_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// clients are the files of the product that make a client or a connection, each with the tables that walk it, or the
// reason why its servers are no strangers.
var clients = map[string]string{
	"internal/ai/client.go":                 "TestNoHTTPServerIsReadWithoutEnd",
	"internal/archive/bucket.go":            "TestNoHTTPServerIsReadWithoutEnd",
	"internal/billing/stripe.go":            "TestNoHTTPServerIsReadWithoutEnd",
	"internal/branding/dns_ask.go":          "TestNoNameServerIsReadWithoutEnd",
	"internal/mail/smtp.go":                 "TestNoMailServerIsReadWithoutEnd",
	"internal/outbound/client.go":           "TestNoHTTPServerIsReadWithoutEnd, as webhook",
	"internal/outbound/host.go":             "TestNoMailServerIsReadWithoutEnd, TestNoIMAPServerIsReadWithoutEnd",
	"internal/outbound/transport.go":        "TestNoHTTPServerIsReadWithoutEnd, for all but webhooks",
	"internal/outreach/imap/dial.go":        "TestNoIMAPServerIsReadWithoutEnd",
	"internal/outreach/transport/bounds.go": "TestNoMailServerIsReadWithoutEnd",
	"internal/outreach/transport/dial.go":   "TestNoMailServerIsReadWithoutEnd",
	"internal/social/provider/set.go":       "TestNoHTTPServerIsReadWithoutEnd",
	"internal/telemetry/spans/otlp.go":      "TestNoHTTPServerIsReadWithoutEnd",

	"api/selfcheck.go":                   "calls the process itself",
	"internal/command/outside.go":        "calls the sandboxes of the process itself",
	"internal/command/publicurl.go":      "asks the operator's own public URL for 64 KiB at most",
	"internal/command/ready.go":          "calls the process itself",
	"internal/local/download.go":         "asks the operator's own repository for headers",
	"internal/sandbox/stripe/sandbox.go": "calls the process itself",
}

// dials finds what makes a client or a connection.
var dials = regexp.MustCompile(`\bhttp\.(Client|Transport)\{|\bhttp\.Default(Client|Transport)|` +
	`\bhttp\.(Get|Post|PostForm|Head)\(|` +
	`\bnet\.(Dial|DialTimeout|DialTCP|DialUDP)\(|\bnet\.Dialer\{|\btls\.Dial|` +
	`\bnet\.Lookup|\bnet\.(Resolver\{|DefaultResolver)|` +
	`\bsmtp\.(Dial|NewClient)|\bimapclient\.(Dial|New)|outbound\.(Dial|NewTransport)\(`)

func TestEveryClientOfAStrangerIsWalked(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if entry.IsDir() {
			if slices.Contains([]string{".git", "deploy", "node_modules", "testdata", "internal/testkit"}, file) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err == nil && dials.Match(withoutComments(source)) {
			found = append(found, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		if clients[file] == "" {
			t.Errorf("%s makes a client: add it to a table of this package", file)
		}
	}
	for file := range clients {
		if !slices.Contains(found, file) {
			t.Errorf("%s makes no client", file)
		}
	}
}

// withoutComments drops lines that are comments.
func withoutComments(source []byte) []byte {
	var code [][]byte
	for line := range bytes.Lines(source) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
			code = append(code, line)
		}
	}
	return bytes.Join(code, nil)
}
