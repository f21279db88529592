package genome

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Forty names that try to leave the genome's folder, or to hang its reader, as image and as edge list: none is read.
func TestR21Paths(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	white := func(int, int) color.Color { return color.White }
	picture(t, filepath.Join(outside, "secret.png"), white)
	picture(t, filepath.Join(folder, "inside.png"), white)
	secret := filepath.Join(outside, "secret.png")
	for name, to := range map[string]string{
		"abs": secret, "up": "../" + filepath.Base(outside) + "/secret.png", "dir": outside, "zero": "/dev/zero", "null": "/dev/null", "random": "/dev/urandom",
		"self": "self", "ping": "pong", "pong": "ping", "root": "/", "proc": "/proc/self/environ", "chain": "abs", "updir": "..", "tty": "/dev/tty", "fd": "/proc/self/fd/0",
	} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := pipe(filepath.Join(folder, "pipe")); err != nil {
		t.Skip(err)
	}
	bad := []string{
		"..", ".", "", "/", "//", "../", "../x.png", "a/../../x.png", "./../x.png", "inside.png/../../x.png", "/etc/passwd", secret, "//etc/passwd", "/dev/zero", "/dev/stdin",
		"abs", "up", "dir/secret.png", "dir", "zero", "null", "random", "self", "ping", "root/etc/passwd", "root", "proc", "chain", "updir/x.png", "updir", "tty", "fd", "pipe",
		"a\\0b", "inside.png\\0", "missing.png", "inside.png/x", "dir/../../etc/passwd", strings.Repeat("../", 60) + "etc/passwd", strings.Repeat("a", 5000),
	}
	path := filepath.Join(folder, "net.yaml")
	for _, name := range bad {
		for _, text := range []string{
			imageGenome + "  - {area: grey, at: 1, image: \"" + name + "\"}\n",
			"burst: v1\nareas: [{name: a, neurons: 3}]\nprojections: [{from: a, to: a, rule: edges, file: \"" + name + "\"}]\n",
		} {
			write(t, path, []byte(text))
			g, err := Load(path)
			if err == nil && len(g.Files) > 0 && g.Files[0].Bytes > 0 {
				t.Errorf("%q was read", short(name))
			}
		}
	}
	tries, read := swapped(t, folder, path, secret)
	t.Logf("R21: %d names, each as image and as edge list, and %d tries at a link that is swapped meanwhile (%d met the picture inside): nothing outside was read", len(bad), tries, read)
}

// swapped loads a name that is now a picture inside, now a link to one outside of other size, which must never be read.
func swapped(t *testing.T, folder, path, secret string) (tries, read int) {
	inside, name := filepath.Join(folder, "inside.png"), filepath.Join(folder, "swap.png")
	want, err := os.ReadFile(inside)
	if err != nil {
		t.Fatal(err)
	}
	write(t, secret, append(want, make([]byte, 77)...)) // still a picture
	write(t, path, []byte(imageGenome+"  - {area: grey, at: 1, image: swap.png}\n"))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := fmt.Sprintf("%s-%d", name, i%2)
			_ = os.Remove(next)
			if i%2 == 0 {
				_ = os.Symlink(secret, next)
			} else {
				_ = os.Link(inside, next)
			}
			_ = os.Rename(next, name)
		}
	})
	for tries = 0; tries < 1000; tries++ {
		if g, err := Load(path); err == nil {
			if g.Files[0].Bytes != int64(len(want)) {
				t.Errorf("try %d read the file outside", tries)
			}
			read++
		}
	}
	close(stop)
	wg.Wait()
	return tries, read
}
