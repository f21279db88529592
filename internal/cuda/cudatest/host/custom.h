// Runs the code of models and rules that a genome defines: the few instructions of PTX that backend/cuda writes, one after the other,
// each as the PTX manual has it. What it does not know, or finds of the wrong type, or used before it is made, it refuses.
#pragma once
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// A register's type: numbers, flags, addresses, words.
enum kind { F32 = 'f', PRED = 'p', B64 = 'd', U32 = 'r' };

struct value {
    kind type;
    bool made;
    union {
        float f;
        bool p;
        u64 d;
        u32 r;
    };
};

// operand is a register, by its place, or a number; offset is what an address adds.
struct operand {
    int place; // −1: none
    kind type;
    u64 number;
    u64 offset;
};

struct instruction;

struct step {
    const instruction *what;
    int guard; // a flag's place, or −1
    std::vector<operand> args;
    size_t target; // of bra
};

// remark marks a place of the PTX for such code: operands are the registers that it names, the answer first.
struct remark {
    const char *text;
    std::vector<kind> operands;
};
static const remark MODEL = {"// custom_update ", {U32, U32, U32, F32, F32, B64, F32, B64, B64, B64, B64, B64, U32, U32, U32, B64, B64}};
static const remark HANDLER = {"// handler_program ",
                               {F32, U32, B64, B64, B64, U32, U32, U32, U32, B64, B64, U32, B64, B64, B64, B64}};
static const remark POST = {"// post_program ", {F32, U32, F32, B64, B64}};
static const remark PRE = {"// pre_program ", {F32, U32, F32, B64, B64}};
static const remark RULE = {"// rule_program ", {U32, U32, B64, B64, B64}};

// site is such a place with code.
struct site {
    const remark *what;
    std::string entry; // the kernel that it is in
    std::vector<value> registers;
    std::vector<step> steps;
    bool alone = true; // whether each operand has a register of its own: else two are equal here, and the steps do not serve other places
};

// machine runs a site's steps for one neuron.
struct machine {
    std::vector<value> v;
    size_t at;
    bool unmade; // a register was used before it was made

    value &get(const operand &o) {
        value &x = v[(size_t)o.place];
        unmade = unmade || !x.made;
        return x;
    }
    float f(const operand &o) {
        if (o.place >= 0) return get(o).f;
        u32 bits = (u32)o.number;
        float x;
        memcpy(&x, &bits, 4);
        return x;
    }
    bool p(const operand &o) { return get(o).p; }
    u64 d(const operand &o) { return get(o).d; }
    u32 r(const operand &o) { return o.place < 0 ? (u32)o.number : get(o).r; }
    float *address(const operand &o) { return (float *)(d(o) + o.offset); }

    value &result(const operand &o) {
        v[(size_t)o.place].made = true;
        return v[(size_t)o.place];
    }
    void make(const operand &o, float x) { result(o).f = x; }
    void word(const operand &o, u32 x) { result(o).r = x; }
    void flag(const operand &o, bool x) { result(o).p = x; }

    void run(const std::vector<step> &steps);
};

struct instruction {
    const char *op, *kinds; // of its arguments, the result first: m is memory, i a number, x a number or a word
    void (*run)(machine &m, const operand *a);
};
static const instruction INSTRUCTIONS[] = {
    {"mov.f32", "ff", [](machine &m, const operand *a) { m.make(a[0], m.f(a[1])); }},
    {"ld.f32", "fm", [](machine &m, const operand *a) { m.make(a[0], *m.address(a[1])); }},
    {"ld.u64", "dm", [](machine &m, const operand *a) { u64 x = *(const u64 *)m.address(a[1]); m.result(a[0]).d = x; }},
    {"ld.u32", "rm", [](machine &m, const operand *a) { u32 x = *(const u32 *)m.address(a[1]); m.result(a[0]).r = x; }},
    {"cvt.rn.f32.s32", "fr", [](machine &m, const operand *a) { m.make(a[0], (float)(int)m.r(a[1])); }},
    {"st.f32", "mf", [](machine &m, const operand *a) { *m.address(a[0]) = m.f(a[1]); }},
    {"neg.f32", "ff", [](machine &m, const operand *a) { m.make(a[0], -m.f(a[1])); }},
    {"and.b32", "ffi", [](machine &m, const operand *a) {
        float x = m.f(a[1]);
        u32 bits;
        memcpy(&bits, &x, 4);
        bits &= m.r(a[2]);
        memcpy(&x, &bits, 4);
        m.make(a[0], x);
    }},
    {"sqrt.rn.f32", "ff", [](machine &m, const operand *a) { m.make(a[0], sqrtf(m.f(a[1]))); }},
    {"add.rn.f32", "fff", [](machine &m, const operand *a) { m.make(a[0], m.f(a[1]) + m.f(a[2])); }},
    {"sub.rn.f32", "fff", [](machine &m, const operand *a) { m.make(a[0], m.f(a[1]) - m.f(a[2])); }},
    {"mul.rn.f32", "fff", [](machine &m, const operand *a) { m.make(a[0], m.f(a[1]) * m.f(a[2])); }},
    {"div.rn.f32", "fff", [](machine &m, const operand *a) { m.make(a[0], m.f(a[1]) / m.f(a[2])); }},
    {"setp.lt.f32", "pff", [](machine &m, const operand *a) { m.flag(a[0], m.f(a[1]) < m.f(a[2])); }},
    {"setp.le.f32", "pff", [](machine &m, const operand *a) { m.flag(a[0], m.f(a[1]) <= m.f(a[2])); }},
    {"setp.eq.f32", "pff", [](machine &m, const operand *a) { m.flag(a[0], m.f(a[1]) == m.f(a[2])); }},
    {"setp.ne.u32", "pri", [](machine &m, const operand *a) { m.flag(a[0], m.r(a[1]) != m.r(a[2])); }},
    {"setp.lt.u32", "prr", [](machine &m, const operand *a) { m.flag(a[0], m.r(a[1]) < m.r(a[2])); }},
    {"min.u32", "rri", [](machine &m, const operand *a) { u32 x = m.r(a[1]), y = m.r(a[2]); m.result(a[0]).r = x < y ? x : y; }},
    {"bfe.u32", "rrii", [](machine &m, const operand *a) { u32 x = m.r(a[1]) >> m.r(a[2]) & ((1u << m.r(a[3])) - 1); m.result(a[0]).r = x; }},
    {"and.pred", "ppp", [](machine &m, const operand *a) { m.flag(a[0], m.p(a[1]) & m.p(a[2])); }},
    {"or.pred", "ppp", [](machine &m, const operand *a) { m.flag(a[0], m.p(a[1]) | m.p(a[2])); }},
    {"not.pred", "pp", [](machine &m, const operand *a) { m.flag(a[0], !m.p(a[1])); }},
    {"selp.b32", "fffp", [](machine &m, const operand *a) {
        float x = m.f(a[1]), y = m.f(a[2]);
        m.make(a[0], m.p(a[3]) ? x : y);
    }},
    {"selp.u32", "rxxp", [](machine &m, const operand *a) { u32 x = m.p(a[3]) ? m.r(a[1]) : m.r(a[2]); m.result(a[0]).r = x; }},
    {"setp.ge.u32", "pri", [](machine &m, const operand *a) { m.flag(a[0], m.r(a[1]) >= m.r(a[2])); }},
    {"setp.eq.u32", "pri", [](machine &m, const operand *a) { m.flag(a[0], m.r(a[1]) == m.r(a[2])); }},
    {"fma.rn.f32", "ffff", [](machine &m, const operand *a) { m.make(a[0], __builtin_fmaf(m.f(a[1]), m.f(a[2]), m.f(a[3]))); }},
    {"cvt.rzi.s32.f32", "rf", [](machine &m, const operand *a) { m.word(a[0], (u32)(int)m.f(a[1])); }},
    {"mov.b32", "rf", [](machine &m, const operand *a) { m.word(a[0], __builtin_bit_cast(u32, m.f(a[1]))); }},
    {"mov.b32", "fr", [](machine &m, const operand *a) { m.make(a[0], __builtin_bit_cast(float, m.r(a[1]))); }},
    {"mov.u32", "ri", [](machine &m, const operand *a) { m.word(a[0], m.r(a[1])); }},
    {"add.u32", "rri", [](machine &m, const operand *a) { m.word(a[0], m.r(a[1]) + m.r(a[2])); }},
    {"xor.b32", "rrx", [](machine &m, const operand *a) { m.word(a[0], m.r(a[1]) ^ m.r(a[2])); }},
    {"shl.b32", "rri", [](machine &m, const operand *a) { m.word(a[0], m.r(a[1]) << m.r(a[2])); }},
    {"shr.u32", "rri", [](machine &m, const operand *a) { m.word(a[0], m.r(a[1]) >> m.r(a[2])); }},
    {"mul.lo.u32", "rri", [](machine &m, const operand *a) { m.word(a[0], m.r(a[1]) * m.r(a[2])); }},
    {"mul.hi.u32", "rri", [](machine &m, const operand *a) { m.word(a[0], (u32)((u64)m.r(a[1]) * m.r(a[2]) >> 32)); }},
    {"cvt.rn.f32.u32", "fr", [](machine &m, const operand *a) { m.make(a[0], (float)m.r(a[1])); }},
    {"cvt.u32.u64", "rd", [](machine &m, const operand *a) { m.word(a[0], (u32)m.d(a[1])); }},
    {"shr.u64", "ddi", [](machine &m, const operand *a) { u64 x = m.d(a[1]) >> a[2].number; m.result(a[0]).d = x; }},
    {"mad.wide.u32", "drid", [](machine &m, const operand *a) { u64 x = (u64)m.r(a[1]) * m.r(a[2]) + m.d(a[3]); m.result(a[0]).d = x; }},
    {"mad.lo.u64", "ddid", [](machine &m, const operand *a) { u64 x = m.d(a[1]) * a[2].number + m.d(a[3]); m.result(a[0]).d = x; }},
};
static const instruction BRA = {"bra", "", nullptr};

void machine::run(const std::vector<step> &steps) {
    for (at = 0; at < steps.size() && !unmade; at++) {
        const step &s = steps[at];
        if (s.guard >= 0) {
            unmade = unmade || !v[(size_t)s.guard].made;
            if (!v[(size_t)s.guard].p) continue;
        }
        if (s.what == &BRA) at = s.target - 1;
        else s.what->run(*this, s.args.data());
    }
}

// reader reads one site.
struct reader {
    site s;
    std::map<std::string, int> given;                          // the remark's registers
    std::vector<std::map<std::string, std::pair<int, int>>> scopes; // of each brace: name, or its beginning and count; first place
    std::vector<std::map<std::string, size_t>> labels;
    std::vector<std::pair<size_t, std::string>> jumps; // of the innermost brace that has been opened
    std::string why;

    bool fail(const std::string &line) {
        if (why.empty()) why = "PTX that the stand-in does not know: " + line;
        return false;
    }

    int add(kind type) {
        s.registers.push_back(value{type, false, {}});
        return (int)s.registers.size() - 1;
    }

    // find is a register's place, −1 for none.
    int find(const std::string &name) {
        size_t digits = name.find_last_not_of("0123456789") + 1;
        for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
            if (auto one = scope->find(name); one != scope->end() && one->second.second == 0) return one->second.first;
            auto many = scope->find(name.substr(0, digits));
            if (many == scope->end() || digits == name.size()) continue;
            int k = atoi(name.c_str() + digits);
            if (k < many->second.second) return many->second.first + k;
        }
        auto g = given.find(name);
        return g == given.end() ? -1 : g->second;
    }

    bool declare(std::istringstream &in, const std::string &line) {
        static const std::map<std::string, kind> kinds = {{".pred", PRED}, {".f32", F32}, {".b64", B64}, {".u32", U32}};
        std::string type, name;
        in >> type;
        if (!kinds.count(type)) return fail(line);
        while (in >> name) {
            name.pop_back(); // , or ;
            int count = 0, first = (int)s.registers.size();
            size_t open = name.find('<');
            if (open != std::string::npos) count = atoi(name.c_str() + open + 1), name = name.substr(0, open);
            for (int i = 0; i < (count ? count : 1); i++) add(kinds.at(type));
            scopes.back()[name] = {first, count};
        }
        return true;
    }

    bool argument(std::string text, char want, operand *o, const std::string &line) {
        *o = operand{-1, U32, 0, 0};
        bool memory = text[0] == '[';
        if (memory != (want == 'm')) return fail(line);
        if (memory) {
            size_t plus = text.find('+');
            if (plus != std::string::npos) o->offset = strtoull(text.c_str() + plus + 1, nullptr, 10);
            text = text.substr(1, (plus == std::string::npos ? text.size() - 1 : plus) - 1);
            want = 'd';
        }
        if (text[0] == '%') {
            o->place = find(text);
            if (o->place < 0) return fail(line + " (no register " + text + ")");
            o->type = s.registers[(size_t)o->place].type;
            return o->type == (want == 'x' ? U32 : want) || fail(line + " (the type of " + text + ")");
        }
        o->type = (kind)want;
        if (want == 'f' && text.size() == 10 && text.substr(0, 2) == "0f") o->number = strtoul(text.c_str() + 2, nullptr, 16);
        else if ((want == 'i' || want == 'x') && text.find_first_not_of("0123456789") == std::string::npos) o->number = strtoull(text.c_str(), nullptr, 10);
        else return fail(line);
        return true;
    }

    bool read(const std::string &line) {
        std::istringstream in(line);
        std::string word;
        step x = {&BRA, -1, {}, 0};
        in >> word;
        if (word[0] == '@') {
            x.guard = find(word.substr(1));
            if (x.guard < 0 || s.registers[(size_t)x.guard].type != PRED) return fail(line);
            in >> word;
        }
        if (word == ".reg") return declare(in, line);
        if (word.back() == ':') {
            labels.back()[word.substr(0, word.size() - 1)] = s.steps.size();
            return true;
        }
        if (line.back() != ';') return fail(line);
        std::string text;
        if (word == "bra") {
            in >> text;
            text.pop_back();
            jumps.push_back({s.steps.size(), text});
        } else {
            std::istringstream ahead(line.substr((size_t)in.tellg()));
            ahead >> text;
            int place = text[0] == '%' ? find(text.substr(0, text.size() - 1)) : -1;
            x.what = nullptr;
            for (auto &i : INSTRUCTIONS) // the same name may have results of two types
                if (word == i.op && (!x.what || (place >= 0 && s.registers[(size_t)place].type == i.kinds[0]))) x.what = &i;
            if (!x.what) return fail(line);
        }
        for (const char *want = x.what->kinds; *want; want++) {
            if (!(in >> text) || text.back() != (want[1] ? ',' : ';')) return fail(line);
            text.pop_back();
            operand o;
            if (!argument(text, *want, &o, line)) return false;
            x.args.push_back(o);
        }
        if (in >> text) return fail(line);
        s.steps.push_back(x);
        return true;
    }

    void open() {
        scopes.emplace_back();
        labels.emplace_back();
    }

    // close ends a brace: its labels go.
    bool close() {
        std::vector<std::pair<size_t, std::string>> outer;
        for (auto &j : jumps) {
            auto l = labels.back().find(j.second);
            if (l == labels.back().end()) outer.push_back(j);
            else s.steps[j.first].target = l->second;
        }
        jumps = outer;
        scopes.pop_back();
        labels.pop_back();
        return !scopes.empty() || jumps.empty() || fail("bra " + jumps[0].second);
    }
};

// lines gives the lines of a text one by one. Most of a module's are looked at once and never kept.
struct lines {
    const char *at;
    const char *begin = nullptr, *end = nullptr; // of the line in hand, without what it is indented by

    bool next() {
        if (!*at) return false;
        end = strchrnul(at, '\n');
        begin = at + strspn(at, " \t");
        at = *end ? end + 1 : end;
        return true;
    }
    bool begins(const char *with) const { return strncmp(begin, with, strlen(with)) == 0; }
    std::string text() const { return std::string(begin, end); }
};

// read_sites finds the places of a module's PTX; the answer is why it cannot.
static std::string read_sites(const char *ptx, std::vector<site> *sites) {
    lines l{ptx};
    std::string entry;
    while (l.next()) {
        if (*l.begin == '.') {
            for (auto declared : {".visible .entry ", ".entry "})
                if (const char *name = l.begin + strlen(declared); l.begins(declared)) entry = std::string(name, strcspn(name, "(\n"));
            continue;
        }
        const remark *what = nullptr;
        if (*l.begin == '/')
            for (auto one : {&MODEL, &RULE, &HANDLER, &POST, &PRE})
                if (l.begins(one->text)) what = one;
        if (!what) continue;
        reader r;
        r.s.what = what;
        r.s.entry = entry;
        std::istringstream names(l.text().substr(strlen(what->text)));
        for (kind k : what->operands) {
            std::string name;
            if (!(names >> name)) return "a remark with too few operands: " + l.text();
            r.s.alone = r.s.alone && !r.given.count(name);
            r.given[name] = r.add(k);
        }
        while (l.next()) {
            std::string line = l.text();
            if (line == "{") r.open();
            else if (r.scopes.empty()) break; // no code here
            else if (line == "}") r.close();
            else r.read(line);
            if (!r.why.empty()) return r.why;
            if (r.scopes.empty()) break;
        }
        if (r.s.steps.size()) sites->insert(r.s.alone ? sites->begin() : sites->end(), r.s);
    }
    return "";
}

static const std::vector<site> *running_sites; // of the module in hand
static std::string running_entry;
static bool custom_failed;

// run_site runs the code at the remark of the kernel in hand; set fills in its operands, whose answer comes back.
template <class set> static u32 run_site(const remark *what, set operands) {
    for (auto &s : *running_sites) {
        if (s.entry != running_entry || s.what != what) continue;
        static machine m;
        m.v.assign(s.registers.begin(), s.registers.end());
        m.unmade = false;
        for (size_t g = 1; g < what->operands.size(); g++) m.v[g].made = true;
        operands(m.v);
        m.run(s.steps);
        custom_failed = custom_failed || m.unmade || !m.v[0].made;
        return m.v[0].r;
    }
    custom_failed = true;
    return 0;
}

// custom_update is where kernels/neural_dynamics_fcl.cu leaves its remark on a device, the others where plastic.cuh does.
u32 custom_update(u32 program, u32 r, float first, float second, const int *sums, float scale, float *v, float *more, u64 pitch,
                  const float *k, const float *each, u32 i, u32 count, u32 number, u64 seed, u64 t) {
    return run_site(&MODEL, [&](std::vector<value> &o) {
        o[1].r = program, o[2].r = r, o[3].f = first, o[4].f = second, o[5].d = (u64)sums, o[6].f = scale;
        o[7].d = (u64)v, o[8].d = (u64)more, o[9].d = pitch, o[10].d = (u64)k, o[11].d = (u64)each;
        o[12].r = i, o[13].r = count, o[14].r = number, o[15].d = seed, o[16].d = t;
    });
}

u32 rule_program(u32 program, float *state, float *in, const float *params) {
    return run_site(&RULE, [&](std::vector<value> &o) { o[1].r = program, o[2].d = (u64)state, o[3].d = (u64)in, o[4].d = (u64)params; });
}

static void pair_program(const remark *what, u32 pair, float *weight, float trace, const float *params, float *more) {
    u32 bits = run_site(what, [&](std::vector<value> &o) {
        o[0].f = *weight, o[0].made = true;
        o[1].r = pair, o[2].f = trace, o[3].d = (u64)params, o[4].d = (u64)more;
    });
    memcpy(weight, &bits, 4);
}
void post_program(u32 pair, float *weight, float seen, const float *params, float *more) { pair_program(&POST, pair, weight, seen, params, more); }
void pre_program(u32 pair, float *weight, float heard, const float *params, float *more) { pair_program(&PRE, pair, weight, heard, params, more); }

void handler_program(u32 program, float *weight, float *state, float *list, const float *params, u32 age_pre, u32 age_post, u32 pre, u32 post,
                     const float *seen, const float *variables, u32 sources, const float *heard, const float *notes, const void *pre_tables,
                     const void *post_tables) {
    u32 bits = run_site(&HANDLER, [&](std::vector<value> &o) {
        o[0].f = *weight, o[0].made = true;
        o[1].r = program, o[2].d = (u64)state, o[3].d = (u64)list, o[4].d = (u64)params;
        o[5].r = age_pre, o[6].r = age_post, o[7].r = pre, o[8].r = post;
        o[9].d = (u64)seen, o[10].d = (u64)variables, o[11].r = sources, o[12].d = (u64)heard, o[13].d = (u64)notes;
        o[14].d = (u64)pre_tables, o[15].d = (u64)post_tables;
    });
    memcpy(weight, &bits, 4);
}
