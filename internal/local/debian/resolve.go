package debian

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pkg is a package that apt would download.
type pkg struct {
	name, version, arch string
	size                int64
}

// packageSpec names exactly this package to apt.
func (p pkg) packageSpec() string {
	if p.arch == "all" {
		return p.name + "=" + p.version
	}
	return p.name + ":" + p.arch + "=" + p.version
}

// upstreamVersion returns the version without Debian's epoch and revision: "7.0.15" of "5:7.0.15-1~deb12u5".
func (p pkg) upstreamVersion() string {
	_, rest, found := strings.Cut(p.version, ":")
	if !found {
		rest = p.version
	}
	return strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '+' || r == '~' })[0]
}

// download matches a line of `apt-get --print-uris install`.
var download = regexp.MustCompile(`(?m)^'[^']*' ([^_ ]+)_([^_ ]+)_([^_ ]+)\.deb (\d+)`)

// unneeded matches the packages that no server needs at run time; see the package's documentation.
var unneeded = regexp.MustCompile(`^(libllvm|libz3-|perl|libperl|logrotate$)|-dev$`)

var errNoPackage = errors.New("the package sources of this machine have no package")

// resolvePackages returns the packages to unpack for the named ones. The first of them is the first named one.
func (a *apt) resolvePackages(ctx context.Context, config string, names []string) ([]pkg, error) {
	out, err := a.run(ctx, "resolving packages", "/", append([]string{
		"apt-get", "-c", config, "-q", "--print-uris", "--reinstall", "--no-install-recommends", "install", "--",
	}, names...)...)
	if err != nil {
		return nil, err
	}

	var found []pkg
	for _, m := range download.FindAllStringSubmatch(out, -1) {
		version, err := url.PathUnescape(m[2])
		if err != nil {
			return nil, fmt.Errorf("apt-get printed the file name %q", m[0])
		}

		size, _ := strconv.ParseInt(m[4], 10, 64)
		p := pkg{name: m[1], version: version, arch: m[3], size: size}
		if slices.Contains(names, p.name) || p.arch != "all" && !unneeded.MatchString(p.name) {
			found = append(found, p)
		}
	}

	for _, name := range slices.Backward(names) {
		i := slices.IndexFunc(found, func(p pkg) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w %s", errNoPackage, name)
		}
		p := found[i]
		found = slices.Insert(slices.Delete(found, i, i+1), 0, p)
	}

	return found, nil
}

// findDependency returns the first submatch of pattern in the names of the packages that the named one depends on.
func (a *apt) findDependency(ctx context.Context, config, name string,
	pattern *regexp.Regexp,
) (string, error) {
	out, err := a.run(ctx, "resolving packages", "/", "apt-cache", "-c", config, "depends", "--", name)
	if err != nil {
		return "", fmt.Errorf("%w %s", errNoPackage, name)
	}

	for line := range strings.Lines(out) {
		on, isDependency := strings.CutPrefix(strings.TrimSpace(line), "Depends: ")
		if m := pattern.FindStringSubmatch(on); isDependency && m != nil {
			return m[1], nil
		}
	}

	return "", fmt.Errorf("%w %s", errNoPackage, name)
}
