"""The app: the command line's studies and runs as pages for one person on her own machine.

`guard` decides who may ask for what, `server` puts the pages together, `jobs` runs our own command line in child
processes, `workspace` knows the folders that were given. Every other module is a group of screens and exports
``routes``. How they fit together:

- ``page(request, "name.html", **context)`` of `server` renders a template in the frame of the app: language, theme,
  rail, the token of its forms, and "the same on the command line" where ``command`` is in the context. With ``run`` (a
  `workspace.OpenRun`) in the context the rail is that of the run, with ``draft`` that of the steps before it; ``here``
  names the entry of the rail that is shown.
- ``request.app.state.workspace.run(identifier)`` returns a run folder, opened (cached, bounded); everything about one
  run is below ``/run/{identifier}``, and no page or address ever holds a path.
- A change is a form with ``{{ token() }}`` in it that is posted; `guard` has read and checked it before a screen is
  asked, which finds it as ``form_of(request)``.
- A form, or a link, with ``data-part="id"`` is sent by ``static/app.js``, and the element of that id in the answer
  takes the place of the one in the page (``data-live``: as soon as something in it changes). Without the script the
  same form gives the whole page.
- A new module of screens is named in ``server.SCREENS``; ``runs.opened(request)`` is the run of an address, and
  ``runs.pictures`` draws a figure of a report so that the guard's policy allows it (no styles of its own).
- No screen computes a figure: they show what a run folder, or the house below, says.
"""
