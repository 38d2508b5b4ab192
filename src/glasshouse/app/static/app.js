// Forms and links with data-part are sent without loading the page anew: the element of that id in the answer takes the
// place of the one here. Without this script the same forms and links give whole pages.
"use strict";

const later = new WeakMap();
let waiting = 0;  // until what was typed last is sent

function take(part, answer) {
  const next = new DOMParser().parseFromString(answer, "text/html");
  for (const id of part.split(" ")) {
    const [here, there] = [document.getElementById(id), next.getElementById(id)];
    if (!here || !there) return false;
    const focus = here.contains(document.activeElement) ? document.activeElement : null;
    const named = focus?.name ? `[name="${CSS.escape(focus.name)}"]` : null;  // the one of its value, or else any of its name
    const places = !focus ? [] : focus.id ? [`#${CSS.escape(focus.id)}`] : named ? [`${named}[value="${CSS.escape(focus.value)}"]`, named] : [];
    const open = [here, ...here.querySelectorAll("details[id]")].filter(one => one.open).map(one => one.id);
    here.replaceWith(there);
    for (const one of open) document.getElementById(one)?.setAttribute("open", "");
    const twin = places.map(place => there.querySelector(place)).find(Boolean);
    if (twin && focus.matches("input:not([type]), input[type=number]")) {  // somebody is typing: the field stays as it is
      twin.replaceWith(focus);
      focus.focus({preventScroll: true});
    } else if (twin) twin.focus({preventScroll: true});
  }
  document.dispatchEvent(new Event("part"));
  return true;
}

// Where something has data-push every answer is a step of its own, to which the browser goes back.
const at = () => location.pathname + location.search;
let last = at();

function remember(address, step) {
  history[step ? "pushState" : "replaceState"](null, "", address);
  last = at();
  for (const back of document.querySelectorAll("input[name=back]")) back.value = last;
}

const kept = (element, address) => new URL(address, location.href).pathname === location.pathname
  && (element.dataset.push === undefined ? "replace" : "push");

addEventListener("popstate", () => { if (at() !== last) location.reload(); });

// What a form said when it was last answered: where no answer comes it says that again, as what is shown is of then.
const answered = new WeakMap();

function settle(form) {
  answered.set(form, [...form.elements].map(one => [one, one.checked, one.value]));
}

function goBack(form) {
  for (const [one, checked, value] of answered.get(form) ?? []) {
    if (one.type === "checkbox" || one.type === "radio") one.checked = checked;
    else if (one.type !== "file" && one.type !== "hidden" && one.value !== value) one.value = value;
  }
}

function silent(is) { document.getElementById("silent").hidden = !is; }

async function send(part, address, options, keep, form) {
  for (const id of part.split(" ")) document.getElementById(id)?.setAttribute("aria-busy", "true");
  const order = (send.order = (send.order ?? 0) + 1);
  try {
    const answer = await fetch(address, {...options, credentials: "same-origin", redirect: "follow"});
    const page = await answer.text();
    silent(false);
    if (order !== send.order || waiting) return;  // a later one is on its way, or about to be
    const elsewhere = new URL(answer.url).pathname !== location.pathname;
    if ((answer.redirected && elsewhere) || !take(part, page)) { location.assign(answer.url); return; }
    if (keep) remember(address, keep === "push");
    if (form?.isConnected) settle(form);
  } catch {
    if (order !== send.order) return;
    for (const id of part.split(" ")) document.getElementById(id)?.removeAttribute("aria-busy");
    if (form) goBack(form);
    silent(true);
  }
}

function submit(form, button) {
  const data = new FormData(form, button);
  const target = new URL(button?.getAttribute("formaction") ?? form.getAttribute("action") ?? "", location.href);
  if ((form.method || "get").toLowerCase() === "get") {
    target.search = new URLSearchParams(data).toString();
    send(form.dataset.part, target, {}, kept(form, target), form);
  } else if (form.enctype === "multipart/form-data") {
    send(form.dataset.part, target, {method: "POST", body: data}, "", form);
  } else {
    send(form.dataset.part, target, {method: "POST", body: new URLSearchParams(data)}, "", form);
  }
}

document.addEventListener("submit", event => {
  if (!event.target.dataset.part) return;
  event.preventDefault();
  submit(event.target, event.submitter);
});

// A form with data-live is sent as soon as something in it changes; a slider a moment after it rests.
document.addEventListener("input", event => {
  const {form, dataset: {output}} = event.target;
  if (output) document.getElementById(output).textContent = Number(event.target.value).toLocaleString(document.documentElement.lang);
  if (!form?.dataset.part || form.dataset.live !== "") return;
  clearTimeout(later.get(form));
  waiting = setTimeout(() => { waiting = 0; if (form.isConnected) submit(form); }, event.target.type === "range" ? 60 : 30);
  later.set(form, waiting);
});

// One of which it says so is sent when a change is done: a boundary that is dragged stays in the hand until then.
document.addEventListener("change", event => {
  if (event.target.form?.dataset.live === "change") submit(event.target.form);
});

document.addEventListener("click", event => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  send(link.dataset.part, link.href, {}, kept(link, link.href));
});

// A file is dropped onto its form, or chosen; while it is sent the page tells how much of it is there.
for (const form of document.querySelectorAll("form.drop")) {
  const [field, bar] = [form.querySelector("input[type=file]"), form.querySelector("progress")];
  const over = is => event => { event.preventDefault(); form.classList.toggle("over", is); };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", event => {
    over(false)(event);
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  form.addEventListener("submit", event => {
    event.preventDefault();
    const request = new XMLHttpRequest();
    request.upload.onprogress = told => { bar.hidden = false; bar.max = told.total; bar.value = told.loaded; };
    request.onload = () => {
      silent(false);
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      if (request.status < 400) { location.assign(request.responseURL); return; }
      bar.hidden = true;
      form.querySelector(".trouble")?.remove();
      form.append(Object.assign(document.createElement("p"), {className: "trouble", role: "alert", textContent: page.querySelector(".trouble")?.textContent ?? ""}));
    };
    request.onerror = () => { bar.hidden = true; silent(true); };
    request.open("POST", form.action);
    request.send(new FormData(form));
  });
}

// Elements with data-events follow what the server tells of them; where that fails they ask again and again.
function follow(element) {
  const {events, part} = element.dataset;
  const source = new EventSource(events);
  let polling = null;
  const over = () => { source.close(); clearInterval(polling); };
  const renew = () => send(part, location.href, {}).then(() => {
    if (document.getElementById(part)?.dataset.state.endsWith("over")) over();
    const go = document.querySelector("[data-go]");
    if (go) location.assign(go.href);  // it was waited for
  });
  source.onmessage = message => {
    if (document.getElementById(part)?.dataset.state !== message.data) renew();
    if (message.data.endsWith("over")) over();
  };
  source.onerror = () => { polling ??= setInterval(renew, 2000); };
  source.onopen = () => { clearInterval(polling); polling = null; };
  addEventListener("pagehide", over, {once: true});
}

for (const element of document.querySelectorAll("[data-events]")) follow(element);
for (const form of document.querySelectorAll("form[data-part]")) settle(form);
document.addEventListener("part", () => document.querySelectorAll("form[data-part]").forEach(form => answered.has(form) || settle(form)));
document.documentElement.classList.add("scripted");
