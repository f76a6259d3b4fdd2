"use strict";
(function () {
  var form = document.getElementById("filters");
  var results = Array.prototype.slice.call(document.querySelectorAll(".result"));
  var shown = document.getElementById("shown");
  function has(list, word) { return word === "" || (" " + list + " ").indexOf(" " + word + " ") >= 0; }
  function apply() {
    var count = 0;
    var want = {};
    ["verdict", "book", "clause", "area"].forEach(function (name) { want[name] = form.elements[name].value; });
    results.forEach(function (result) {
      var fits = has(result.dataset.verdict, want.verdict) && has(result.dataset.book, want.book) &&
        has(result.dataset.clauses, want.clause) && has(result.dataset.areas, want.area);
      result.hidden = !fits;
      if (fits) { count += 1; }
    });
    shown.textContent = count + " of " + results.length + " results shown";
  }
  if (form) {
    form.hidden = false;
    form.addEventListener("change", apply);
    form.addEventListener("reset", function () { setTimeout(apply, 0); });
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    apply();
  }
  document.addEventListener("click", function (event) {
    var id = event.target.getAttribute && event.target.getAttribute("data-r");
    var result = id && document.getElementById(id);
    if (result) {
      if (result.hidden) { form.reset(); apply(); }
      location.hash = id;
    }
  });
})();
