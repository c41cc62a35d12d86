package redisx

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The first version of Redis that the product runs on.
const oldestMajor, oldestMinor = 6, 2

// checkTime is how long Check waits for the server.
const checkTime = 3 * time.Second

// ErrUnfit means that Redis replied and cannot be used: it refuses the login, or it is older than 6.2.
var ErrUnfit = errors.New("redis cannot be used")

// CheckURL reports what is wrong with the form of address, which is one of those that Open takes. It connects to no
// server, and its error never repeats address, which may hold a password.
func CheckURL(address string) error {
	_, err := parseAddress(address)
	return err
}

// Address returns the servers that address leads to, without its login: "host:6379", "a:6379,b:6379" or a socket's
// path. It returns "" for an address that CheckURL refuses.
func Address(address string) string {
	t, err := parseAddress(address)
	switch {
	case err != nil:
		return ""
	case t.Network == "unix":
		return t.Addr
	default:
		return strings.Join(t.hosts, ",")
	}
}

// Check asks the server once, within 3 s, and returns its version, such as "7.0.15", or "" where the login may not ask
// for it. The error is ErrUnfit if waiting does not help; any other means that Redis is away.
func Check(ctx context.Context, address string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()

	client, err := Open(address, Worker)
	if err != nil {
		return "", err
	}

	defer func() { _ = client.Close() }()

	if err := client.Ping(ctx).Err(); err != nil {
		if refusesLogin(err) {
			return "", fmt.Errorf("%w: %w", ErrUnfit, err)
		}
		return "", err
	}

	text, err := client.Info(ctx, "server").Result()
	if err != nil {
		return "", nil // a login that may not ask for the version is good enough
	}

	version = versionIn(text)
	if isOld(version) {
		return version, fmt.Errorf("%w: it runs Redis %s; want %d.%d or later",
			ErrUnfit, version, oldestMajor, oldestMinor)
	}

	return version, nil
}

// refusesLogin reports whether err is Redis's reply to a missing or wrong user or password.
func refusesLogin(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}

	for _, begin := range []string{"NOAUTH", "WRONGPASS", "NOPERM", "ERR AUTH", "ERR invalid password"} {
		if strings.HasPrefix(reply.Error(), begin) {
			return true
		}
	}

	return false
}

// versionIn returns the version in a reply to INFO, or "".
func versionIn(info string) string {
	for line := range strings.Lines(info) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			return version
		}
	}
	return ""
}

// isOld reports whether version is before the oldest one. An unknown version is not.
func isOld(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	b, wrong := strconv.Atoi(minor)
	if err != nil || wrong != nil {
		return false
	}

	return a < oldestMajor || a == oldestMajor && b < oldestMinor
}
