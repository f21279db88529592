package burst_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is a package of this module, as go list tells it for linux/amd64.
type listed struct {
	Name, ImportPath, Dir                       string
	GoFiles, Imports, TestImports, XTestImports []string
}

// list runs go list once, which takes a second of processor time.
var list = sync.OnceValues(func() (all []listed, err error) {
	c := exec.Command("go", "list", "-json=Name,ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "./...")
	c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

// packages lists those of this module.
func packages(t *testing.T) []listed {
	t.Helper()
	all, err := list()
	require.NoError(t, err)
	require.Greater(t, len(all), 50)
	return all
}
