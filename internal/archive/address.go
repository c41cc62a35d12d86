package archive

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"
)

// address is the parsed form of an archive's URL.
type address struct {
	bucket, prefix string // prefix has no slash at its ends
	host, region   string // of the store's API
	secure         bool
	lookup         minio.BucketLookupType
}

// amazon is the API's host if the URL names none.
const amazon = "s3.amazonaws.com"

// CheckURL returns an error unless text is the URL of an archive. The error does not contain text.
func CheckURL(text string) error {
	_, err := parseAddress(text)
	return err
}

var errURL = errors.New("want s3://bucket/prefix, with ?endpoint=https://host unless the store is Amazon's")

// parseAddress parses s3://bucket/prefix?endpoint=https://host:port&region=r&path_style=true. Stores other than
// Amazon's are called by path unless path_style is false.
func parseAddress(text string) (a address, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Port() != "" || u.Fragment != "" {
		return a, errURL
	}
	if u.User != nil {
		return a, errors.New("the keys are settings of their own, and no part of the URL")
	}

	a = address{
		bucket: u.Host, prefix: strings.Trim(u.Path, "/"), host: amazon, secure: true, lookup: minio.BucketLookupDNS,
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return a, errURL
	}

	for name, values := range query {
		if len(values) != 1 {
			return a, fmt.Errorf("%s is given twice", name)
		}
		switch value := values[0]; name {
		case "endpoint":
			if err := a.setEndpoint(value); err != nil {
				return a, err
			}
		case "region":
			a.region = value
		case "path_style": // after the loop, because endpoint sets it, too
		default:
			return a, fmt.Errorf("unknown parameter %q: want endpoint, region or path_style", name)
		}
	}

	if text := query.Get("path_style"); text != "" {
		byPath, err := strconv.ParseBool(text)
		if err != nil {
			return a, errors.New("path_style: want true or false")
		}
		a.lookup = minio.BucketLookupDNS
		if byPath {
			a.lookup = minio.BucketLookupPath
		}
	}

	return a, nil
}

// setEndpoint sets the host of the store's API.
func (a *address) setEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return errors.New("endpoint: want https:// or http://, a host, and a port where there is one")
	}
	a.host = u.Host
	a.secure = u.Scheme == "https"
	a.lookup = minio.BucketLookupPath
	if a.region == "" {
		a.region = "us-east-1" // what stores with one region are called
	}
	return nil
}
