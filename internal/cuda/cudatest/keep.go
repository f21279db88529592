package cudatest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// month is how long what no test has used is kept.
const month = 30 * 24 * time.Hour

// unit is a file to compile.
type unit struct {
	file    string
	sources []fs.FS // that it, and what it includes, are in; they share a folder
	flags   []string
}

// keep compiles units to a library. g++ takes many seconds for it, so what the same g++ has made of the same is kept in a cache
// folder for the tests of all packages, which wait while one of them makes it. HOST_FOLDER is the folder of a unit's sources.
func keep(units ...unit) (string, error) {
	var objects, keys []string
	for _, u := range units {
		key, err := keyOf(u)
		if err != nil {
			return "", err
		}
		object, err := made(key, "unit.o", func(dir, to string) error {
			for _, s := range u.sources {
				if err := os.CopyFS(dir, s); err != nil {
					return err
				}
			}
			return Compile(to, append(u.flags, "-c", "-fvisibility=hidden", fmt.Sprintf("-DHOST_FOLDER=%q", dir), filepath.Join(dir, u.file))...)
		})
		if err != nil {
			return "", err
		}
		objects, keys = append(objects, object), append(keys, key)
	}
	return made(fmt.Sprintf("%x", sha256.Sum256([]byte(exports+strings.Join(keys, " "))))[:24], "library.so", func(dir, to string) error {
		script := filepath.Join(dir, "exports")
		if err := os.WriteFile(script, []byte(exports), 0o644); err != nil {
			return err
		}
		return Compile(to, append(objects, "-shared", "-Wl,--version-script="+script)...)
	})
}

// exports is what a library shows others. libstdc++ would call what one has made of its templates, instrumented for races, for another one, too.
const exports = "{global: cu*; nvrtc*; nvml*; nccl*; host*; local: *;};"

// made is a file of the cache folder with a key, which is made where it is not there.
func made(key, name string, make func(dir, to string) error) (string, error) {
	cache := os.Getenv(cacheVariable)
	if cache == "" {
		return "", errors.New("no folder for the stand-in; run the package's tests by cudatest.Main")
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
	path := filepath.Join(dir, name)
	now := time.Now()
	if os.Chtimes(path, now, now) == nil {
		return path, nil
	}
	if err := errors.Join(forget(filepath.Dir(dir), now.Add(-month)), os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return "", err
	}
	unfinished := path + ".unfinished" // g++ may be killed while it writes
	if err := make(dir, unfinished); err != nil {
		return "", err
	}
	return path, os.Rename(unfinished, path)
}

// keyOf hashes all that a unit depends on: the compiler, its flags, the sources.
func keyOf(u unit) (string, error) {
	version, err := exec.Command("g++", "--version").Output()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", version, u.file, u.flags)
	for _, s := range u.sources {
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

// forget removes what was last used before a time.
func forget(dir string, before time.Time) error {
	var libs []string
	var err error
	for _, name := range []string{"library.so", "unit.o"} {
		some, e := filepath.Glob(filepath.Join(dir, "*", name))
		libs, err = append(libs, some...), errors.Join(err, e)
	}
	for _, lib := range libs {
		if info, e := os.Stat(lib); e == nil && info.ModTime().Before(before) {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(lib)))
		}
	}
	return err
}
