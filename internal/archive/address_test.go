package archive_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/archive"
)

func TestTheURLOfAnArchiveNamesABucketAndNoKeys(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"s3://days", "s3://days/cell-1/", "s3://days/a/b?region=eu-central-1",
		"s3://days?endpoint=http://127.0.0.1:9000", "s3://days?endpoint=https://minio.example.com/&path_style=false",
		"s3://days?path_style=true",
	} {
		if err := archive.CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
		if _, err := archive.OpenBucket(good, "key", "secret"); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "days", "https://days.s3.amazonaws.com", "s3://", "s3:///prefix", "s3://key:hidden@days", "s3://days:9000",
		"s3://days#x", "s3://days?endpoint=minio.example.com",
		"s3://days?endpoint=https://key:hidden@minio.example.com", "s3://days?endpoint=https://minio.example.com/api",
		"s3://days?path_style=maybe", "s3://days?prefix=x",
		"s3://days?region=a&region=b", "s3://days?secret=hidden",
	} {
		err := archive.CheckURL(bad)
		if err == nil {
			t.Errorf("%s is accepted", bad)
		} else if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: the error repeats it: %v", bad, err)
		}
	}
}
