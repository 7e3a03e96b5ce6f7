// Draws scenes of fem.app.scene on a canvas: in a plane, or in space, turned by dragging.
const OWN = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]; // links, as their curves in charts
const EACH = "each link", BOB = 13; // pixels: radius of the largest mass
const PULLED = ["#b4b4b4", "#56B4E9", "#0072B2", "#06263d"];
const PUSHED = ["#b4b4b4", "#E69F00", "#D55E00", "#5a2300"];
const PULLED_DARK = ["#70757a", "#56B4E9", "#9fd8ff", "#ffffff"];
const PUSHED_DARK = ["#70757a", "#E69F00", "#ff9a4d", "#ffe0c0"];
const SCALES = [1, 2, 5, 10, 20, 50, 100, 1000];
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const FIT = 10; // seconds in which a motion is shown as a whole
const NEAR = 12; // pixels

function numbers(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Kind(bytes.buffer);
}

function blend(colours, share) {
  const at = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const k = Math.min(Math.floor(at), colours.length - 2);
  const part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mix = (i) => Math.round(part(colours[k], i) + (at - k) * (part(colours[k + 1], i) - part(colours[k], i)));
  return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
}

// The end of a scale, and how far values go beyond it.
const end = (shown, real, beyond) => digits(shown) + (beyond > 1e-3 * Math.abs(shown) ? ` (to ${digits(real)})` : "");
const digits = (value) => (value === 0 ? "0" : Number(value.toPrecision(4)).toString());

function opened(scene) {
  scene.time = numbers(scene.time, Float64Array);
  scene.real = numbers(scene.x, Float32Array);
  scene.rest = scene.rest && numbers(scene.rest, Float32Array);
  scene.ends = numbers(scene.ends, Int32Array);
  scene.breaks = scene.breaks && numbers(scene.breaks, Float32Array);
  if (scene.joints) scene.joints.numbers = numbers(scene.joints.numbers, Float32Array);
  for (const each of Object.values(scene.values)) each.numbers = numbers(each.numbers, Float32Array);
  return scene;
}

function magnified(scene, scale) { // positions as drawn, and the box they stay in
  scene.x = scene.rest && scale !== 1
    ? scene.real.map((x, i) => scene.rest[i % scene.rest.length] + scale * (x - scene.rest[i % scene.rest.length]))
    : scene.real;
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < scene.x.length; i++) {
    low[i % 3] = Math.min(low[i % 3], scene.x[i]);
    high[i % 3] = Math.max(high[i % 3], scene.x[i]);
  }
  const size = Math.max(...high.map((h, i) => h - low[i]), 1e-12);
  for (const [height] of scene.planes) { // those that are near are seen
    if (height > low[scene.up] - size && height < high[scene.up] + size) {
      low[scene.up] = Math.min(low[scene.up], height);
      high[scene.up] = Math.max(high[scene.up], height);
    }
  }
  return Object.assign(scene, { low, high });
}

export default {
  template: `
    <div class="fem-player">
      <canvas ref="canvas" tabindex="0" aria-label="the motion: space plays and pauses, arrow keys step"></canvas>
      <div class="fem-legend" v-if="legend"><span>{{ legend.words }} {{ legend.unit ? '[' + legend.unit + ']' : '' }}</span>
        <span>{{ legend.low }}</span><i :style="{ background: legend.gradient }"></i><span>{{ legend.high }}</span></div>
      <div class="fem-controls" v-if="ready && (moves || colours_of.length || turned)">
        <template v-if="moves">
          <button type="button" ref="play" class="fem-play" @click="run(!runs)" :title="runs ? 'pause (space)' : 'play (space)'">
            {{ runs ? 'Pause' : 'Play' }}</button>
          <input class="fem-place" type="range" min="0" :max="last" step="any" :value="now" aria-label="time"
            @input="seek(Number($event.target.value))">
          <output class="fem-time">t = {{ stamp }}</output>
          <label>speed <select class="fem-speed" v-model.number="speed">
            <option :value="0">fit</option>
            <option v-for="each in speeds" :value="each">{{ each }}×</option></select></label>
          <label>trail <select class="fem-trail" v-model.number="trail" @change="draw">
            <option :value="0">none</option><option :value="0.05">short</option><option :value="0.2">long</option>
            <option :value="1">all</option></select></label>
        </template>
        <label v-if="moves && magnifies">displacements <select class="fem-scale" v-model.number="scale" @change="magnify">
          <option v-for="each in scales" :value="each">{{ each }}×</option></select></label>
        <label v-if="colours_of.length"
          title="T: force along the bar. N: stress times area, differs from T where strains are large. E: strain.">colour <select class="fem-colour" v-model="colour" @change="draw">
          <option value="">none</option>
          <option v-for="[name, words] in colours_of" :value="name">{{ words }}</option></select></label>
        <label v-if="moves && joints" title="force of each joint on the link that hangs there, over the largest of all">
          <input class="fem-joints" type="checkbox" v-model="pulls" @change="draw"> joint forces</label>
        <button type="button" v-if="turned" @click="reset" title="the view as it was">reset view</button>
      </div>
      <div class="fem-hover" v-show="hover" :style="{ left: at[0] + 'px', top: at[1] + 'px' }">{{ hover }}</div>
    </div>`,
  props: { sources: Array, names: Array, charts: Array, marked: String },
  data() {
    return {
      ready: false, moves: false, runs: false, now: 0, last: 0, first: 0, speed: 0, speeds: SPEEDS, trail: 0.05,
      colour: EACH, colours_of: [], legend: null, hover: "", at: [0, 0], turned: false, stamp: "",
      scale: 1, scales: SCALES, magnifies: false,
      joints: false, pulls: false,
    };
  },
  watch: { sources: "load", marked: "draw", charts: "attach" },
  mounted() {
    this.scenes = [];
    this.reset();
    const canvas = this.$refs.canvas;
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(canvas);
    this.theme = new MutationObserver(() => this.draw());
    this.theme.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    canvas.addEventListener("pointerdown", this.grab);
    canvas.addEventListener("pointermove", this.point);
    canvas.addEventListener("pointerup", () => (this.held = null));
    canvas.addEventListener("pointerleave", () => { this.hover = ""; this.held = null; });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // the page scrolls; pinching, or the key, comes closer
      event.preventDefault();
      this.zoom *= Math.exp(-event.deltaY / 300);
      this.turned = true;
      this.draw();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.key === " ") this.run(!this.runs);
      else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        const k = this.place(this.scenes[0]) + (event.key === "ArrowLeft" ? -1 : 1);
        this.seek(this.scenes[0].time[Math.min(Math.max(Math.round(k), 0), this.scenes[0].time.length - 1)]);
      } else return;
      event.preventDefault();
    });
    this.load();
  },
  beforeUnmount() {
    cancelAnimationFrame(this.ticking);
    this.resizing.disconnect();
    this.theme.disconnect();
  },
  methods: {
    async load() {
      const wanted = this.sources.join();
      const answers = await Promise.all(this.sources.map((source) => fetch((window.path_prefix || "") + source)));
      if (wanted !== this.sources.join() || answers.some((answer) => !answer.ok)) return;
      const scenes = (await Promise.all(answers.map((answer) => answer.json()))).map(opened);
      if (wanted !== this.sources.join()) return;
      const began = !this.scenes.length;
      this.scenes = scenes;
      this.magnifies = scenes.some((scene) => scene.rest);
      this.joints = scenes.some((scene) => scene.joints && scene.joints.largest > 0);
      for (const scene of scenes) magnified(scene, this.scale);
      this.ready = scenes.length > 0;
      if (!this.ready) return this.draw();
      this.first = scenes[0].time[0];
      this.last = Math.max(...scenes.map((scene) => scene.time[scene.time.length - 1])) - this.first;
      this.moves = scenes[0].time.length > 1;
      this.colours_of = Object.entries(scenes[0].values).map(([name, value]) => [name, value.words]);
      if (scenes[0].links.length) this.colours_of.unshift([EACH, EACH]);
      if (!this.colours_of.some(([name]) => name === this.colour)) this.colour = (this.colours_of[0] || [""])[0];
      if (began && this.moves) this.run(true);
      this.now = Math.min(this.now, this.last);
      this.draw();
      this.attach();
    },
    run(on) {
      this.runs = on && this.moves;
      this.before = null;
      if (on && this.now >= this.last) this.now = 0;
      cancelAnimationFrame(this.ticking);
      if (this.runs) this.ticking = requestAnimationFrame(this.tick);
    },
    tick(moment) {
      if (!this.runs) return;
      if (this.before !== null) {
        const rate = this.speed || Math.max(this.last, 1e-12) / FIT;
        this.now += ((moment - this.before) / 1000) * rate;
        if (this.now > this.last) this.now = 0;
        this.draw();
      }
      this.before = moment;
      this.ticking = requestAnimationFrame(this.tick);
    },
    magnify() {
      for (const scene of this.scenes) magnified(scene, this.scale);
      this.draw();
    },
    seek(time) {
      this.run(false);
      this.now = Math.min(Math.max(time, 0), this.last);
      this.draw();
    },
    reset() {
      Object.assign(this, { azimuth: -0.9, elevation: 0.35, zoom: 1, shift: [0, 0], turned: false });
      this.draw();
    },
    grab(event) {
      this.held = [event.clientX, event.clientY];
      this.$refs.canvas.setPointerCapture(event.pointerId);
    },
    point(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      if (this.held && this.ready) {
        const [dx, dy] = [event.clientX - this.held[0], event.clientY - this.held[1]];
        this.held = [event.clientX, event.clientY];
        if (this.scenes[0].axes.length === 3 && !event.shiftKey) {
          this.azimuth -= dx * 0.008;
          this.elevation = Math.min(Math.max(this.elevation + dy * 0.008, -1.57), 1.57);
        } else {
          this.shift = [this.shift[0] + dx, this.shift[1] + dy];
        }
        this.turned = true;
        this.draw();
      }
      this.find(event.clientX - box.left, event.clientY - box.top);
    },
    find(x, y) {
      let best = NEAR * NEAR, said = "";
      for (const { scene, seen } of this.drawn || []) {
        const k = Math.round(this.place(scene));
        for (let i = 0; i < scene.nodes; i++) {
          const d = (seen[2 * i] - x) ** 2 + (seen[2 * i + 1] - y) ** 2;
          if (d < best) {
            best = d;
            const place = [0, 1, 2].map((j) => digits(scene.real[3 * (k * scene.nodes + i) + j]));
            const sets = Object.keys(scene.sets).filter((name) => scene.sets[name].includes(i)).slice(0, 4);
            said = `node ${scene.labels[i]} (${place.join(", ")})${scene.supports.includes(i) ? ", held" : ""}` +
              (sets.length ? `\nin ${sets.join(", ")}` : "");
          }
        }
        for (let e = 0; e < scene.ends.length / 2 && !said; e++) {
          const [a, b] = [scene.ends[2 * e], scene.ends[2 * e + 1]];
          const mx = (seen[2 * a] + seen[2 * b]) / 2, my = (seen[2 * a + 1] + seen[2 * b + 1]) / 2;
          const d = (mx - x) ** 2 + (my - y) ** 2;
          if (d < best) {
            best = d;
            const value = e < scene.bars && (scene.values[this.colour] || scene.values.T);
            said = `element ${scene.elements[e]}` + (value
              ? `: ${value.words} = ${digits(value.numbers[k * scene.bars + e])} ${value.unit}` : "");
          }
        }
      }
      this.hover = said;
      this.at = [x + 14, y + 10];
    },
    place(scene) { // of the present time among the instants, with a fraction
      const wanted = this.first + this.now, time = scene.time;
      let low = 0, high = time.length - 1;
      if (wanted >= time[high]) return high;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (time[middle] <= wanted) low = middle; else high = middle;
      }
      return time[high] > time[low] ? low + Math.max(0, wanted - time[low]) / (time[high] - time[low]) : low;
    },
    view(scene, left, width, height) { // how a point in space is seen
      const flat = scene.axes.length === 2;
      const middle = scene.low.map((l, i) => (l + scene.high[i]) / 2);
      const half = scene.low.map((l, i) => (scene.high[i] - l) / 2);
      const up = scene.up, [a, b] = [0, 1, 2].filter((i) => i !== up);
      const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
      const turn = flat
        ? (x, y, z) => { const p = [x, y, z]; return [p[scene.axes[0]], p[scene.axes[1]]]; }
        : (x, y, z) => {
            const p = [x, y, z];
            return [ca * p[a] - sa * p[b], ce * p[up] + se * (sa * p[a] + ca * p[b])];
          };
      const radius = Math.hypot(...half) || 1;
      const wide = flat ? half[scene.axes[0]] : radius, tall = flat ? half[scene.axes[1]] : radius * 0.8;
      const scale = this.zoom * Math.min((width - 48) / 2 / (wide || 1e-12), (height - 56) / 2 / (tall || 1e-12),
        (Math.min(width, height) - 48) / 2 / ((flat ? 0.15 : 0.3) * radius));
      const [u0, v0] = turn(...middle);
      return (x, y, z) => {
        const [u, v] = turn(x, y, z);
        return [left + width / 2 + scale * (u - u0) + this.shift[0], height / 2 - scale * (v - v0) + this.shift[1]];
      };
    },
    colours(scene) {
      const scale = scene.values[this.colour];
      if (!scale) return null;
      const dark = document.body.classList.contains("body--dark");
      const [pulled, pushed] = dark ? [PULLED_DARK, PUSHED_DARK] : [PULLED, PUSHED];
      const largest = Math.max(scale.high, -scale.low);
      const share = (value) => (scale.low <= 0 ? Math.abs(value) / largest : (value - scale.low) / (scale.high - scale.low || 1));
      const colour = (value) => (value >= 0 ? blend(pulled, share(value)) : blend(pushed, share(value)));
      return { scale, colour };
    },
    draw() {
      const canvas = this.$refs.canvas;
      if (!canvas || !canvas.clientWidth) return;
      const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, window.devicePixelRatio || 1];
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      const pen = canvas.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      const dark = document.body.classList.contains("body--dark");
      this.ink = dark ? "#e6e6e6" : "#222222";
      this.faint = dark ? "#5c6166" : "#c8ccd0";
      const count = this.scenes.length;
      this.drawn = this.scenes.map((scene, k) => this.scene(pen, scene, (k * width) / count, width / count, height, k));
      for (let k = 1; k < count; k++) {
        pen.strokeStyle = this.faint;
        pen.strokeRect((k * width) / count, 0, 0, height);
      }
      if (!count) return;
      const unit = this.scenes[0].units.time;
      this.stamp = `${(this.first + this.now).toFixed(this.last < 1 ? 4 : 2)} ${unit}`;
      canvas.dataset.time = this.first + this.now;
      this.mark_charts();
    },
    scene(pen, scene, left, width, height, number) {
      const see = this.view(scene, left, width, height), at = this.place(scene);
      const k = Math.floor(at), part = at - k, next = Math.min(k + 1, scene.time.length - 1), n = scene.nodes;
      const x = (i, frame) => [0, 1, 2].map((j) => scene.x[3 * (frame * n + i) + j]);
      const between = (i) => { const p = x(i, k), q = x(i, next); return p.map((v, j) => v + part * (q[j] - v)); };
      pen.save();
      pen.beginPath();
      pen.rect(left, 0, width, height);
      pen.clip();
      pen.lineCap = "round";
      this.planes(pen, scene, see, left, width, height);
      const seen = new Float32Array(2 * n);
      for (let i = 0; i < n; i++) seen.set(see(...between(i)), 2 * i);
      this.trails(pen, scene, see, x, at, seen);
      const colours = this.colours(scene), values = colours && colours.scale;
      const few = n <= 60, thick = n > 400 ? 1.6 : n > 100 ? 2.2 : n > 60 ? 3.2 : scene.links.length ? 7 : 4;
      const own = this.colour === EACH && scene.links.map((k) => OWN[k % OWN.length]);
      for (let e = scene.ends.length / 2 - 1; e >= 0; e--) {
        const [a, b] = [scene.ends[2 * e], scene.ends[2 * e + 1]], bar = e < scene.bars;
        if (bar && scene.breaks && scene.breaks[e] <= this.first + this.now) continue;
        const value = bar && values ? values.numbers[Math.round(at) * scene.bars + e] : NaN;
        pen.strokeStyle = !bar ? this.faint : own ? own[e] : Number.isFinite(value) ? colours.colour(value) : this.ink;
        pen.lineWidth = !bar ? 1.4 : Math.abs(value) <= (values ? values.slack : -1) ? 1.2 : thick;
        pen.setLineDash(bar ? [] : [5, 4]);
        pen.beginPath();
        pen.moveTo(seen[2 * a], seen[2 * a + 1]);
        pen.lineTo(seen[2 * b], seen[2 * b + 1]);
        pen.stroke();
      }
      pen.setLineDash([]);
      pen.fillStyle = "#ffffff";
      if (own) for (const e of scene.heavy) { // centres of mass
        const [a, b] = [scene.ends[2 * e], scene.ends[2 * e + 1]];
        this.dot(pen, [(seen[2 * a] + seen[2 * b]) / 2, (seen[2 * a + 1] + seen[2 * b + 1]) / 2], 0, 2);
      }
      pen.fillStyle = this.ink;
      if (few) for (let i = 0; i < n; i++) this.dot(pen, seen, i, 3.4);
      const heaviest = Math.max(...Object.values(scene.bobs));
      if (few) for (const [node, mass] of Object.entries(scene.bobs)) {
        const e = own ? scene.links.findIndex((_, k) => scene.ends[2 * k + 1] === Number(node)) : -1;
        pen.fillStyle = e >= 0 ? own[e] : this.ink;
        this.dot(pen, seen, Number(node), Math.max(4, BOB * Math.cbrt(mass / heaviest)));
      }
      pen.fillStyle = this.ink;
      for (const i of scene.supports) {
        const [u, v] = [seen[2 * i], seen[2 * i + 1]];
        pen.beginPath();
        pen.moveTo(u, v - 1);
        pen.lineTo(u - 6, v + 9);
        pen.lineTo(u + 6, v + 9);
        pen.fill();
      }
      pen.strokeStyle = pen.fillStyle = "#009E73";
      for (const [node, load] of Object.entries(scene.loads)) this.arrow(pen, scene, see, x(Number(node), 0), load);
      if (this.pulls && scene.joints) this.joint_forces(pen, scene, see, between, [k, next, part]);
      pen.fillStyle = "#D55E00";
      for (const i of scene.sets[this.marked] || []) this.dot(pen, seen, i, 4.5);
      pen.fillStyle = this.ink;
      pen.font = "13px sans-serif";
      if (this.names[number]) { // the legend is at the top, the axes are on the left
        pen.textAlign = "right";
        pen.fillText(this.names[number], left + width - 12, height - 12);
        pen.textAlign = "left";
      }
      if (!number) this.label(scene, colours);
      if (scene.axes.length === 3) this.triad(pen, scene, see, left, height);
      pen.restore();
      return { scene, seen };
    },
    dot(pen, seen, i, size) {
      pen.beginPath();
      pen.arc(seen[2 * i], seen[2 * i + 1], size, 0, 7);
      pen.fill();
    },
    planes(pen, scene, see, left, width, height) {
      if (scene.axes.length !== 2 || !scene.axes.includes(scene.up)) return;
      for (const [level, colour, bottom] of scene.planes) {
        const p = [0, 0, 0];
        p[scene.up] = level;
        const v = see(...p)[1];
        pen.fillStyle = pen.strokeStyle = colour;
        pen.globalAlpha = 0.25;
        if (bottom) pen.fillRect(left, v, width, Math.max(0, height - v));
        pen.globalAlpha = 1;
        pen.lineWidth = 1.2;
        pen.beginPath();
        pen.moveTo(left, v);
        pen.lineTo(left + width, v);
        pen.stroke();
      }
    },
    trails(pen, scene, see, x, at, seen) {
      if (!this.trail || !this.moves) return;
      const begin = Math.max(0, Math.ceil(at - this.trail * scene.time.length));
      pen.lineWidth = 1.4;
      pen.strokeStyle = "#009E73";
      for (const i of scene.traced) {
        pen.beginPath();
        for (let k = begin; k <= at; k++) {
          const p = see(...x(i, k));
          if (k === begin) pen.moveTo(...p); else pen.lineTo(...p);
        }
        pen.lineTo(seen[2 * i], seen[2 * i + 1]);
        pen.stroke();
      }
    },
    joint_forces(pen, scene, see, between, [k, next, part]) {
      const { nodes, numbers, largest } = scene.joints, at = (frame, p, j) => numbers[3 * (frame * nodes.length + p) + j];
      pen.strokeStyle = pen.fillStyle = "#CC79A7";
      nodes.forEach((node, p) => {
        const force = [0, 1, 2].map((j) => at(k, p, j) + part * (at(next, p, j) - at(k, p, j)));
        const size = Math.hypot(...force) / (largest || 1);
        if (size > 0.01) this.arrow(pen, scene, see, between(node), force, 3 * size);
      });
    },
    arrow(pen, scene, see, from, load, share = 1) {
      const size = Math.hypot(...load) || 1, length = 0.12 * share * Math.hypot(...scene.high.map((h, i) => h - scene.low[i]));
      const [u, v] = see(...from), [p, q] = see(...from.map((c, i) => c + (length * load[i]) / size));
      const long = Math.hypot(p - u, q - v) || 1, [du, dv] = [(p - u) / long, (q - v) / long];
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(u, v);
      pen.lineTo(p, q);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(p + 4 * du, q + 4 * dv);
      pen.lineTo(p - 6 * du - 4 * dv, q - 6 * dv + 4 * du);
      pen.lineTo(p - 6 * du + 4 * dv, q - 6 * dv - 4 * du);
      pen.fill();
    },
    triad(pen, scene, see, left, height) {
      const o = see(0, 0, 0);
      const arms = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((p) => see(...p).map((c, i) => c - o[i]));
      const longest = Math.max(...arms.map((arm) => Math.hypot(...arm))) || 1;
      pen.lineWidth = 1.2;
      pen.font = "11px sans-serif";
      pen.strokeStyle = pen.fillStyle = this.ink;
      arms.forEach((arm, axis) => {
        const [du, dv] = arm.map((c) => (24 * c) / longest);
        pen.beginPath();
        pen.moveTo(left + 36, height - 36);
        pen.lineTo(left + 36 + du, height - 36 + dv);
        pen.stroke();
        pen.fillText("xyz"[axis], left + 33 + 1.4 * du, height - 32 + 1.4 * dv);
      });
    },
    label(scene, colours) {
      if (!colours) { if (this.legend) this.legend = null; return; }
      const { scale, colour } = colours, key = `${this.colour} ${scale.low} ${scale.high} ${this.ink}`;
      if (this.legend && this.legend.key === key) return;
      const stops = Array.from({ length: 17 }, (_, i) => colour(scale.low + (i / 16) * (scale.high - scale.low)));
      this.legend = { key, words: scale.words, unit: scale.unit, low: end(scale.low, scale.least, scale.low - scale.least), high: end(scale.high, scale.most, scale.most - scale.high),
        gradient: `linear-gradient(to right, ${stops.join()})` };
    },
    attach() { // a click in a chart leads the time
      for (const id of this.charts || []) {
        const chart = getElement(id)?.chart;
        if (!chart) { setTimeout(this.attach, 200); return; }
        if (chart.fem_leads) continue;
        chart.fem_leads = true;
        chart.getZr().on("click", (event) => {
          const where = [event.offsetX, event.offsetY];
          if (chart.containPixel({ gridIndex: 0 }, where)) {
            this.seek(chart.convertFromPixel({ gridIndex: 0 }, where)[0] - this.first);
          }
        });
      }
      this.marked_at = null;
      this.mark_charts();
    },
    mark_charts() {
      const moment = performance.now();
      if (this.runs && moment - (this.marked_at || 0) < 120) return;
      this.marked_at = moment;
      for (const id of this.charts || []) {
        const chart = getElement(id)?.chart;
        if (!chart || !chart.getDom().clientWidth || !chart.getOption()) continue;
        chart.setOption({ series: [{ id: "now", markLine: { data: [{ xAxis: this.first + this.now }] } }] });
      }
    },
  },
};
