package cudatest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// month is how long what no test has used is kept.
const month = 30 * 24 * time.Hour

// keep compiles a file of sources to a library. g++ takes many seconds for it, so what the same g++ has made of the same is
// kept in a cache folder for the tests of all packages, which wait while one of them makes it. HOST_FOLDER is the
// folder of sources and library.
func keep(sources []fs.FS, file string, flags ...string) (string, error) {
	cache := os.Getenv(cacheVariable)
	if cache == "" {
		return "", errors.New("no folder for the stand-in; run the package's tests by cudatest.Main")
	}
	key, err := keyOf(sources, append(flags, file))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, key)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock")
	if err := lock.Lock(); err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }()
	lib := filepath.Join(dir, "library.so")
	now := time.Now()
	if os.Chtimes(lib, now, now) == nil {
		return lib, nil
	}
	if err := errors.Join(forget(filepath.Dir(dir), now.Add(-month)), os.RemoveAll(dir)); err != nil {
		return "", err
	}
	for _, s := range sources {
		if err := os.CopyFS(dir, s); err != nil {
			return "", err
		}
	}
	unfinished := lib + ".unfinished" // g++ may be killed while it writes
	if err := Compile(unfinished, append(flags, fmt.Sprintf("-DHOST_FOLDER=%q", dir), filepath.Join(dir, file))...); err != nil {
		return "", err
	}
	return lib, os.Rename(unfinished, lib)
}

// keyOf hashes all that a library depends on: the compiler, its flags, the sources.
func keyOf(sources []fs.FS, flags []string) (string, error) {
	version, err := exec.Command("g++", "--version").Output()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", version, flags)
	for _, s := range sources {
		if err := fs.WalkDir(s, ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := fs.ReadFile(s, path)
			fmt.Fprintf(h, "%q %q", path, text)
			return err
		}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:12]), nil
}

// forget removes libraries that were last used before a time.
func forget(dir string, before time.Time) error {
	libs, err := filepath.Glob(filepath.Join(dir, "*", "library.so"))
	for _, lib := range libs {
		if info, e := os.Stat(lib); e == nil && info.ModTime().Before(before) {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(lib)))
		}
	}
	return err
}
