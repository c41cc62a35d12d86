package archive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// Objects stores objects by name. It is safe for concurrent use.
type Objects interface {
	// Put stores an object, or replaces it as a whole.
	Put(ctx context.Context, name string, body []byte) error
	// Open returns the content of an object, or an error that is fs.ErrNotExist if there is no such object. It must be
	// closed.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
}

const (
	// putTime is the timeout of one Put, its retries included.
	putTime = 2 * time.Minute
	// openTime is the timeout of one Open and of reading the object.
	openTime = 10 * time.Minute
	// maxObject is the largest object that is read, in bytes: a part holds usualBytes before its compression.
	maxObject = 2 * usualBytes
	// maxOther is the largest response without an object. The library reads it whole.
	maxOther = 64 << 10
)

// maxBody returns the largest body of a response of the store.
func maxBody(r *http.Response) int64 {
	isObject := r.Request.Method == http.MethodGet && r.Request.URL.RawQuery == ""
	if isObject && (r.StatusCode == http.StatusOK || r.StatusCode == http.StatusPartialContent) {
		return maxObject
	}
	return maxOther
}

// Bucket is a folder in a bucket of an S3-compatible store. It implements Objects.
type Bucket struct {
	client       *minio.Client
	name, prefix string
}

// OpenBucket returns the archive at a URL that CheckURL accepts. It connects to nothing. Errors of a Bucket contain
// neither key.
func OpenBucket(url, accessKey, secretKey string) (*Bucket, error) {
	a, err := parseAddress(url)
	if err != nil {
		return nil, fmt.Errorf("archive URL: %w", err)
	}
	transport := outbound.NewTransport(http.ProxyFromEnvironment)
	transport.ResponseHeaderTimeout = time.Minute
	client, err := minio.New(a.host, &minio.Options{
		Creds: credentials.NewStaticV4(accessKey, secretKey, ""), Secure: a.secure, Region: a.region,
		BucketLookup: a.lookup, Transport: outbound.BoundBodies(transport, maxBody),
	})
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return &Bucket{client: client, name: a.bucket, prefix: a.prefix}, nil
}

// Put implements Objects.
func (b *Bucket) Put(ctx context.Context, name string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	kind := "application/gzip"
	if strings.HasSuffix(name, ".json") {
		kind = "application/json"
	}
	_, err := b.client.PutObject(ctx, b.name, path.Join(b.prefix, name), bytes.NewReader(body), int64(len(body)),
		minio.PutObjectOptions{ContentType: kind, SendContentMd5: true, DisableMultipart: true})
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	return nil
}

// Open implements Objects.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	o, err := b.client.GetObject(ctx, b.name, path.Join(b.prefix, name), minio.GetObjectOptions{})
	if err == nil {
		_, err = o.Stat() // before it, no request is sent
	}
	if err == nil {
		return &object{o, cancel}, nil
	}
	if o != nil {
		_ = o.Close()
	}
	cancel()
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		err = fs.ErrNotExist
	}

	return nil, fmt.Errorf("read %s: %w", name, err)
}

// object is an object that is read. Its context ends when it is closed.
type object struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (o *object) Close() error {
	defer o.cancel()
	return o.ReadCloser.Close()
}
